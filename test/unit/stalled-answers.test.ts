/** How long an answer is kept for a client that does not read it. */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { createApiServer } from '../../process/api/server.ts';
import { scaled } from '../support/patience.ts';

/** More than the kernels of both sides take in. */
const ANSWER = Buffer.alloc(64 * 1024 * 1024);

test('a client that asks and never reads loses its connection, and its answer is dropped', async () => {
  const server = createApiServer(500);
  server.on('request', (_, response) => void response.end(ANSWER));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const opened = once(server, 'connection');
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1').on('error', () => undefined);
  try {
    client.pause().write('GET / HTTP/1.1\r\nhost: here\r\n\r\n');
    const [connection] = await opened;
    await expect.poll(() => connection.destroyed, { timeout: scaled(20_000) }).toBe(true);
  } finally {
    client.destroy();
    server.closeAllConnections();
    server.close();
  }
});
