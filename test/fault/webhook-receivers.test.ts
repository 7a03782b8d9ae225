/** The hostile receiver kit: what a publisher's server may do to us, one endpoint each, all at once, beside one that works. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { createServer as createSocketServer } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Database } from '../../db/database.ts';
import { openDatabase } from '../../db/database.ts';
import { createEndpoint } from '../../modules/webhooks/use/endpoints.ts';
import { pingEndpoint } from '../../modules/webhooks/use/redeliver.ts';
import type { Outbound } from '../../platform/outbound/outbound.ts';
import { createOutbound } from '../../platform/outbound/outbound.ts';
import { createSecretBox } from '../../platform/tokens/secretBox.ts';
import { TEST_CERTIFICATE, TEST_KEY } from '../support/certificate.ts';
import { insertTenant } from '../support/ledger.ts';
import type { TestDatabase } from '../support/parts.ts';
import { createDatabase } from '../support/parts.ts';
import type { HandedOver } from '../support/webhook-pass.ts';
import { runPass } from '../support/webhook-pass.ts';
import type { LoggedDelivery } from '../support/webhookLog.ts';
import { listDeliveries, listEndpoints } from '../support/webhookLog.ts';

/** Of one request: far beyond what nineteen answers at once take a busy machine, since one that is late is a `timeout`, whatever it was to be. */
const TIMEOUT_MS = 8_000;
const PASS_MS = 15_000;
const secretBox = createSecretBox(Buffer.alloc(32, 4));
const cleanups: (() => unknown)[] = [];
const deliveries = new Map<string, LoggedDelivery>();
const endpoints = new Map<string, { readonly enabled: boolean }>();
const handedOver: HandedOver[] = [];
let innerVisits = 0;
let own: TestDatabase;
let database: Database;
let outbound: Outbound;

type Handler = (response: ServerResponse, request: IncomingMessage) => void;

async function listenOn(server: ReturnType<typeof createSocketServer>): Promise<number> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    socket.on('error', () => undefined);
    sockets.add(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cleanups.push(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return (server.address() as AddressInfo).port;
}

async function serve(handler: Handler): Promise<string> {
  const port = await listenOn(
    createServer((request, response) => void request.resume().on('end', () => handler(response, request))),
  );
  return `http://127.0.0.1:${port}/`;
}

const status =
  (code: number, headers: Record<string, string> = {}): Handler =>
  (response) =>
    void response.writeHead(code, headers).end('no');

/** Headers a byte every 50 ms, for ever. */
function slowloris(socket: Socket): void {
  const timer = setInterval(() => socket.write('x'), 50);
  socket.write('HTTP/1.1 200 OK\r\nx-slow: ');
  socket.on('close', () => clearInterval(timer));
}

/** An answer whose body comes a byte every 50 ms, for ever. */
const drip: Handler = (response) => {
  response.writeHead(200);
  const timer = setInterval(() => response.write('x'), 50);
  response.on('close', () => clearInterval(timer));
};

/** Bytes as fast as they are taken, for ever. */
const endless: Handler = (response) => {
  const more = (): void => {
    while (!response.destroyed && response.write(Buffer.alloc(16_384, 'a')));
    response.once('drain', more);
  };
  more();
};

const bomb = gzipSync(Buffer.alloc(10_000_000));

beforeAll(async () => {
  own = await createDatabase();
  database = await openDatabase({ url: own.appUrl, poolSize: 6 });
  const tlsPort = await listenOn(createTlsServer({ key: TEST_KEY, cert: TEST_CERTIFICATE }, (_, response) => response.end('ok')));
  const names: Record<string, { address: string; port?: number }[]> = {
    'untrusted.example': [{ address: '127.0.0.1', port: tlsPort }],
    'moved.example': [{ address: '10.0.0.7' }],
  };
  outbound = createOutbound({
    allowLoopback: true,
    resolve: async (name) => names[name] ?? Promise.reject(new Error('no such name')),
  });
  const closed = await listenOn(createSocketServer());
  cleanups.pop()?.();
  const inner = await serve((response) => {
    innerVisits += 1;
    response.writeHead(204).end();
  });
  const urls: Record<string, string> = {
    works: await serve(status(204)),
    hangs: await serve(() => undefined),
    slowloris: `http://127.0.0.1:${await listenOn(createSocketServer(slowloris))}/`,
    redirects: await serve(status(302, { location: inner })),
    redirectsToMetadata: await serve(status(307, { location: 'http://169.254.169.254/' })),
    drips: await serve(drip),
    gone: await serve(status(410)),
    throttles: await serve(status(429, { 'retry-after': '7200' })),
    throttlesPlainly: await serve(status(429)),
    storms: await serve(status(500)),
    bombs: await serve((response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb)),
    neverEnds: await serve(endless),
    bigHeaders: await serve(status(200, { 'x-big': 'a'.repeat(40_000) })),
    resets: `http://127.0.0.1:${await listenOn(createSocketServer((socket) => socket.resetAndDestroy()))}/`,
    speaksNonsense: `http://127.0.0.1:${await listenOn(createSocketServer((socket) => socket.end('SMTP ready\r\n\r\n')))}/`,
    refuses: `http://127.0.0.1:${closed}/`,
    isUntrusted: 'https://untrusted.example/',
    wentPrivate: 'https://moved.example/',
    wentAway: 'https://gone.example/',
  };
  const keys = new Map<string, { tenantId: string; endpointId: string }>();
  for (const [name, url] of Object.entries(urls)) {
    const tenantId = await insertTenant(database);
    const { endpointId } = await createEndpoint({ database, secretBox, outbound }, tenantId, { url });
    await pingEndpoint({ database }, tenantId, endpointId);
    keys.set(name, { tenantId, endpointId });
  }
  await runPass({ database, outbound, secretBox, handedOver, limits: { requestTimeoutMs: TIMEOUT_MS, passMs: PASS_MS } });
  for (const [name, { tenantId, endpointId }] of keys) {
    const [delivery] = await listDeliveries({ database }, tenantId, endpointId);
    if (delivery !== undefined) deliveries.set(name, delivery);
    const [endpoint] = await listEndpoints({ database }, tenantId);
    if (endpoint !== undefined) endpoints.set(name, endpoint);
  }
});
afterAll(async () => {
  for (const cleanup of cleanups) cleanup();
  await outbound.close();
  await database.close();
  await own.drop();
});

test.each([
  ['works', 'delivered', null],
  ['bombs', 'delivered', null],
  ['neverEnds', 'delivered', null],
  ['drips', 'delivered', null],
  ['hangs', 'pending', 'timeout'],
  ['slowloris', 'pending', 'timeout'],
  ['redirects', 'pending', 'redirect'],
  ['redirectsToMetadata', 'pending', 'redirect'],
  ['throttles', 'pending', 'status_429'],
  ['throttlesPlainly', 'pending', 'status_429'],
  ['storms', 'pending', 'status_500'],
  ['bigHeaders', 'pending', 'too_large'],
  ['resets', 'pending', 'connection_failed'],
  ['speaksNonsense', 'pending', 'bad_response'],
  ['refuses', 'pending', 'connection_failed'],
  ['isUntrusted', 'pending', 'tls_error'],
  ['wentAway', 'pending', 'dns_error'],
  ['gone', 'failed', 'status_410'],
  ['wentPrivate', 'failed', 'blocked_address'],
])('a receiver that %s: one attempt, %s, reason %s', (name, state, reason) => {
  const delivery = deliveries.get(name);
  expect(delivery).toMatchObject({ state, reason, attempts: [{ attempt: 1, reason }] });
  expect(handedOver.some(({ endpointId }) => endpointId === delivery?.endpointId)).toBe(state === 'pending');
});

test('every attempt ended by its deadline, and kept at most 2 KiB of an answer', () => {
  for (const { attempts } of deliveries.values()) {
    expect(attempts[0]?.durationMs).toBeLessThan(PASS_MS - 1_000); // without a deadline: until the pass ends
    expect(Buffer.byteLength(attempts[0]?.responseStart ?? '')).toBeLessThanOrEqual(2_048);
  }
});

test('where a redirect leads nobody is asked, even if he could be reached', () => {
  expect(innerVisits).toBe(0);
});

test('the one that works was served while others hung', () => {
  const [works, hangs] = [deliveries.get('works')?.attempts[0], deliveries.get('hangs')?.attempts[0]];
  const endOf = (attempt = { startedAtMs: 0, durationMs: 0 }): number => attempt.startedAtMs + attempt.durationMs;
  expect(endOf(works)).toBeLessThan(endOf(hangs));
});

test('Retry-After is the floor of the next attempt, without it the schedule holds', () => {
  const waitOf = (name: string): number => {
    const delivery = deliveries.get(name);
    return (delivery?.dueAtMs ?? 0) - (delivery?.attempts[0]?.startedAtMs ?? 0);
  };
  expect(waitOf('throttles')).toBeGreaterThanOrEqual(7_200_000);
  expect(waitOf('throttlesPlainly')).toBeLessThan(60_000);
  expect(waitOf('throttlesPlainly')).toBeGreaterThanOrEqual(4_500);
});

test('only 410 disables an endpoint at once', () => {
  const disabled = [...endpoints].filter(([, { enabled }]) => !enabled).map(([name]) => name);
  expect(disabled).toEqual(['gone']);
});
