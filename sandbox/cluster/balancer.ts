import type { IncomingMessage, ServerResponse } from 'node:http';
import { request as ask, createServer } from 'node:http';
import type { Socket } from 'node:net';
import { listenOnFreePort, releasePort } from '../parts/ports.ts';

/** A round-robin proxy in front of API processes, as deploy/haproxy.cfg makes one in front of containers. */
export interface Balancer {
  readonly url: string;
  /** Puts a process behind the proxy. */
  add(url: string): void;
  /** The processes that get calls now. */
  ready(): readonly string[];
  /** How many answers of a status the processes gave so far. */
  answered(status: number): number;
  /** Ends it; calls on their way are cut. */
  close(): Promise<void>;
}

/** One process behind the proxy. */
interface Upstream {
  readonly url: URL;
  isReady: boolean;
}

/** Headers that speak of one connection only (RFC 9110, 7.6.1). */
const HOP_HEADERS = ['connection', 'keep-alive', 'proxy-connection', 'transfer-encoding', 'te', 'trailer', 'upgrade'];
const PROBE_EVERY_MS = 250;
const PROBE_LIMIT_MS = 2_500;
const CONNECT_LIMIT_MS = 1_000;

/**
 * Starts the proxy on 127.0.0.1, with nothing behind it yet. A process whose `/readyz` is not 200 gets no calls while another one's is; with none ready all
 * are tried, since most calls need less than everything. A call is given to another process only if no byte of it was sent:
 * there was no connection. Otherwise the caller gets 502 and knows that it may have been carried out.
 */
export async function startBalancer(preferredPort = 0): Promise<Balancer> {
  const upstreams: Upstream[] = [];
  const stopProbes: (() => void)[] = [];
  const answers = new Map<number, number>();
  const count = (status: number): void => void answers.set(status, (answers.get(status) ?? 0) + 1);
  let turn = 0;
  const order = (): Upstream[] => {
    turn = (turn + 1) % Math.max(upstreams.length, 1);
    const rotated = [...upstreams.slice(turn), ...upstreams.slice(0, turn)];
    return [...rotated.filter(({ isReady }) => isReady), ...rotated.filter(({ isReady }) => !isReady)];
  };
  const server = createServer((incoming, outgoing) => void pass(incoming, outgoing, { upstreams: order(), count }));
  const port = await listenOnFreePort(server, preferredPort);
  return {
    url: `http://127.0.0.1:${port}`,
    add: (target) => {
      const upstream = { url: new URL(target), isReady: true };
      upstreams.push(upstream);
      stopProbes.push(probe(upstream));
    },
    ready: () => upstreams.filter(({ isReady }) => isReady).map(({ url }) => url.origin),
    answered: (status) => answers.get(status) ?? 0,
    close: () =>
      new Promise((resolve) => {
        for (const stop of stopProbes) stop();
        server.close(() => {
          releasePort(port);
          resolve();
        });
        server.closeAllConnections();
      }),
  };
}

/** Asks a process for its readiness all the time; returns the end of it. */
function probe(upstream: Upstream): () => void {
  let timer: NodeJS.Timeout | undefined;
  let isOver = false;
  const look = async (): Promise<void> => {
    const { status } = await fetch(new URL('/readyz', upstream.url), { signal: AbortSignal.timeout(PROBE_LIMIT_MS) }).catch(
      () => ({ status: 0 }),
    );
    upstream.isReady = status === 200;
    if (!isOver) timer = setTimeout(() => void look(), PROBE_EVERY_MS).unref();
  };
  void look();
  return () => {
    isOver = true;
    clearTimeout(timer);
  };
}

interface Turn {
  readonly upstreams: readonly Upstream[];
  readonly count: (status: number) => void;
}

async function pass(incoming: IncomingMessage, outgoing: ServerResponse, { upstreams, count }: Turn): Promise<void> {
  for (const upstream of upstreams) {
    const outcome = await passTo(upstream, incoming, outgoing, count);
    if (outcome === 'passed') return;
    upstream.isReady = false;
    if (outcome === 'lost') return fail(outgoing, 502, 'the process ended in the middle of the call; ask again');
  }
  fail(outgoing, 503, 'no process of the service can be reached; ask again');
}

/** `refused`: nothing was sent. `lost`: the call may have been carried out, and no answer has begun. */
function passTo(
  { url }: Upstream,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  count: (status: number) => void,
): Promise<'passed' | 'refused' | 'lost'> {
  return new Promise((resolve) => {
    let isConnected = false;
    const { method, url: path, socket } = incoming;
    const passed = Object.entries(incoming.headers).filter(([name]) => !HOP_HEADERS.includes(name));
    const headers = { ...Object.fromEntries(passed), 'x-forwarded-for': socket.remoteAddress };
    // A connection for each call: one that was kept may have been closed by the other side meanwhile, with bytes on their way.
    const call = ask({ host: url.hostname, port: url.port, method, path, headers, agent: false }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.rawHeaders);
      count(answer.statusCode ?? 502);
      answer.pipe(outgoing);
      answer.once('error', () => outgoing.destroy());
      answer.once('close', () => (answer.complete ? undefined : outgoing.destroy()));
      resolve('passed');
    });
    call.once('socket', (socket: Socket) => {
      const late = setTimeout(() => call.destroy(new Error('no connection')), CONNECT_LIMIT_MS);
      socket.once('close', () => clearTimeout(late));
      socket.once('connect', () => {
        clearTimeout(late);
        isConnected = true;
        incoming.pipe(call);
      });
    });
    call.once('error', () => {
      if (!isConnected) resolve('refused');
      else if (outgoing.headersSent) outgoing.destroy();
      else resolve('lost');
    });
    outgoing.once('close', () => call.destroy());
  });
}

function fail(outgoing: ServerResponse, status: number, sentence: string): void {
  if (outgoing.headersSent || outgoing.destroyed) return;
  const headers = { 'content-type': 'application/json', 'retry-after': '1', 'cache-control': 'no-store' };
  outgoing.writeHead(status, headers).end(JSON.stringify({ ok: false, error: sentence }));
}
