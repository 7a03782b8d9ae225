import type { Server, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { createServer as createSocketServer } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterEach, expect, test } from 'vitest';
import type { Outbound, OutboundOptions } from '../../platform/outbound/outbound.ts';
import { createOutbound } from '../../platform/outbound/outbound.ts';
import { TEST_CERTIFICATE, TEST_KEY } from '../support/certificate.ts';

const cleanups: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

function open(options: OutboundOptions = { allowLoopback: true }): Outbound {
  const outbound = createOutbound(options);
  cleanups.unshift(() => outbound.close());
  return outbound;
}

async function listenOn(server: Pick<Server, 'listen' | 'address' | 'close'>): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
  cleanups.push(() => {
    server.close();
    (server as Partial<Server>).closeAllConnections?.();
  });
  return (server.address() as AddressInfo).port;
}

async function serve(handler: (response: ServerResponse, headers: Record<string, unknown>) => void): Promise<string> {
  const port = await listenOn(createServer((request, response) => handler(response, request.headers)));
  return `http://127.0.0.1:${port}/`;
}

test('an answer comes with status, headers and body, and the request asks for no compression', async () => {
  let seen: Record<string, unknown> = {};
  const url = await serve((response, headers) => {
    seen = headers;
    response.setHeader('x-a', '1');
    response.end('hello');
  });
  const answer = await open().send({ url, method: 'POST', body: 'x' });
  expect(answer).toMatchObject({ ok: true, status: 200, headers: { 'x-a': '1' } });
  expect(answer.ok && Buffer.from(answer.body).toString()).toBe('hello');
  expect(seen['accept-encoding']).toBe('identity');
  expect(seen['user-agent']).toBe('svc-outbound/1.0');
});

test('a redirect is an answer of its own and is not followed', async () => {
  let requests = 0;
  const url = await serve((response) => {
    requests += 1;
    response.writeHead(302, { location: 'http://169.254.169.254/latest/meta-data' });
    response.end();
  });
  expect(await open().send({ url })).toMatchObject({ ok: true, status: 302 });
  expect(requests).toBe(1);
});

test('a receiver that accepts and says nothing ends with timeout', async () => {
  const url = await serve(() => {});
  expect(await open().send({ url, timeoutMs: 150 })).toMatchObject({ ok: false, reason: 'timeout' });
});

test('requests that hang do not hold up others to the same origin', async () => {
  let requests = 0;
  const url = await serve((response) => {
    if (++requests > 20) response.end('ok');
  });
  const outbound = open();
  const hanging = Array.from({ length: 20 }, () => outbound.send({ url, timeoutMs: 20_000 }));
  while (requests < 20) await new Promise((resolve) => setTimeout(resolve, 5));
  expect(await outbound.send({ url, timeoutMs: 15_000 })).toMatchObject({ ok: true, status: 200 });
  await outbound.close();
  await Promise.all(hanging);
});

test('a body that drips past the deadline is a timeout, or only its start where that is enough', async () => {
  const url = await serve((response) => {
    response.write('first');
    const timer = setInterval(() => response.write('.'), 20);
    response.once('close', () => clearInterval(timer));
  });
  const outbound = open();
  expect(await outbound.send({ url, timeoutMs: 150 })).toMatchObject({ ok: false, reason: 'timeout' });
  const start = await outbound.send({ url, timeoutMs: 2_000, read: 'start' });
  expect(start).toMatchObject({ ok: true, status: 200 });
  expect(start.ok && Buffer.from(start.body).toString()).toMatch(/^first/);
});

test('a body over its limit is too_large, and where the start is enough exactly that much is kept', async () => {
  const url = await serve((response) => {
    const more = (): void => {
      while (!response.destroyed && response.write(Buffer.alloc(16_384, 'a')));
      response.once('drain', more);
    };
    more();
  });
  const outbound = open();
  expect(await outbound.send({ url, maxBodyBytes: 10_000 })).toMatchObject({ ok: false, reason: 'too_large' });
  const start = await outbound.send({ url, maxBodyBytes: 2_048, read: 'start' });
  expect(start.ok && start.body.length).toBe(2_048);
});

test('a gzip bomb is never inflated: refused where the whole body counts, as small as it came where its start does', async () => {
  const bomb = gzipSync(Buffer.alloc(10_000_000));
  const url = await serve((response) => {
    response.setHeader('content-encoding', 'gzip');
    response.end(bomb);
  });
  const outbound = open();
  expect(await outbound.send({ url })).toMatchObject({ ok: false, reason: 'bad_response' });
  const start = await outbound.send({ url, read: 'start' });
  expect(start.ok && start.body.length).toBe(bomb.length);
});

test('headers of more than 16 KiB are too_large', async () => {
  const url = await serve((response) => {
    for (let one = 0; one < 20; one++) response.setHeader(`x-${one}`, 'a'.repeat(1_000));
    response.end();
  });
  expect(await open().send({ url })).toMatchObject({ ok: false, reason: 'too_large' });
});

test('a closed port, a reset connection and bytes that are not HTTP each have their reason', async () => {
  const closed = createServer();
  const closedPort = await listenOn(closed);
  await new Promise((resolve) => closed.close(resolve));
  const resetPort = await listenOn(createSocketServer((socket) => socket.resetAndDestroy()) as unknown as Server);
  const noisePort = await listenOn(
    createSocketServer((socket) => socket.once('data', () => socket.end('SSH-2.0-OpenSSH_9\r\n\r\n'))) as unknown as Server,
  );
  const outbound = open();
  expect(await outbound.send({ url: `http://127.0.0.1:${closedPort}/` })).toMatchObject({ reason: 'connection_failed' });
  expect(await outbound.send({ url: `http://127.0.0.1:${resetPort}/` })).toMatchObject({ reason: 'connection_failed' });
  expect(await outbound.send({ url: `http://127.0.0.1:${noisePort}/` })).toMatchObject({ reason: 'bad_response' });
});

test('without the override nothing connects to this machine, by literal or by name', async () => {
  let connections = 0;
  const port = await listenOn(
    createSocketServer(() => {
      connections += 1;
    }) as unknown as Server,
  );
  const outbound = open({ resolve: async () => [{ address: '127.0.0.1', port }] });
  for (const url of [
    `http://127.0.0.1:${port}/`,
    `https://127.0.0.1:${port}/`,
    'https://receiver.example/',
    'https://localhost/',
  ]) {
    expect(await outbound.send({ url }), url).toMatchObject({ ok: false });
  }
  expect(await outbound.send({ url: 'https://receiver.example/' })).toMatchObject({ reason: 'blocked_address' });
  expect(connections).toBe(0);
});

test('one private answer among public ones blocks the name', async () => {
  const outbound = open({ resolve: async () => [{ address: '1.1.1.1' }, { address: '10.0.0.1' }] });
  expect(await outbound.send({ url: 'https://receiver.example/' })).toMatchObject({ ok: false, reason: 'blocked_address' });
});

test('the override reaches loopback only, not the private network', async () => {
  const outbound = open({ allowLoopback: true, resolve: async () => [{ address: '192.168.1.1' }] });
  expect(await outbound.send({ url: 'https://receiver.example/' })).toMatchObject({ ok: false, reason: 'blocked_address' });
});

test('a name that cannot be resolved is a dns_error, and one without an address is blocked', async () => {
  const failing = open({ resolve: () => Promise.reject(new Error('SERVFAIL')) });
  expect(await failing.send({ url: 'https://receiver.example/' })).toMatchObject({ ok: false, reason: 'dns_error' });
  const empty = open({ resolve: async () => [] });
  expect(await empty.send({ url: 'https://receiver.example/' })).toMatchObject({ ok: false, reason: 'blocked_address' });
});

test('TLS goes to the pinned address with the name in SNI, certificate check and Host', async () => {
  const names: unknown[] = [];
  const server = createTlsServer({ key: TEST_KEY, cert: TEST_CERTIFICATE }, (request, response) => {
    names.push((request.socket as { servername?: unknown }).servername, request.headers.host);
    response.end('ok');
  });
  const port = await listenOn(server);
  const resolve = async () => [{ address: '127.0.0.1', port }];
  const trusting = open({ allowLoopback: true, resolve, ca: TEST_CERTIFICATE });
  expect(await trusting.send({ url: 'https://receiver.example/' })).toMatchObject({ ok: true, status: 200 });
  expect(names).toEqual(['receiver.example', 'receiver.example']);
  expect(await trusting.send({ url: 'https://other.example/' })).toMatchObject({ ok: false, reason: 'tls_error' });
  const distrusting = open({ allowLoopback: true, resolve });
  expect(await distrusting.send({ url: 'https://receiver.example/' })).toMatchObject({ ok: false, reason: 'tls_error' });
});

test('a name that is rebound between two connections is caught at the second', async () => {
  const server = createTlsServer({ key: TEST_KEY, cert: TEST_CERTIFICATE }, (_request, response) => {
    response.setHeader('connection', 'close');
    response.end('ok');
  });
  const port = await listenOn(server);
  let lookups = 0;
  const resolve = async () => [{ address: lookups++ === 0 ? '127.0.0.1' : '169.254.169.254', port }];
  const outbound = open({ allowLoopback: true, resolve, ca: TEST_CERTIFICATE });
  expect(await outbound.send({ url: 'https://rebound.example/' })).toMatchObject({ ok: true });
  expect(await outbound.send({ url: 'https://rebound.example/' })).toMatchObject({ ok: false, reason: 'blocked_address' });
});

test('proxy settings of the environment are ignored', async () => {
  const url = await serve((response) => response.end('direct'));
  const before = process.env['HTTP_PROXY'];
  process.env['HTTP_PROXY'] = 'http://127.0.0.1:1/';
  cleanups.push(() => {
    if (before === undefined) delete process.env['HTTP_PROXY'];
    else process.env['HTTP_PROXY'] = before;
  });
  expect(await open().send({ url })).toMatchObject({ ok: true, status: 200 });
});
