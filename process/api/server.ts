import type { Server } from 'node:http';
import { createServer } from 'node:http';

/** A payment of 16 KiB in a header fits, besides everything else. */
const MAX_HEADER_BYTES = 32_768;
/** A connection without a call stays open longer than the proxy (60 s) or a client keeps it, so that no call is sent into one that closes. */
const KEEP_ALIVE_MS = 65_000;
/**
 * A connection with a call on it ends where nothing moves for so long, longer than any call takes: else a client that asks and never reads
 * would have its answers kept for good.
 */
const STALLED_MS = 120_000;

/** The server of the API, listening nowhere yet. */
export function createApiServer(stalledMs = STALLED_MS): Server {
  const server = createServer({
    maxHeaderSize: MAX_HEADER_BYTES,
    headersTimeout: 10_000,
    requestTimeout: 30_000,
    keepAliveTimeout: KEEP_ALIVE_MS,
  });
  server.timeout = stalledMs;
  return server;
}
