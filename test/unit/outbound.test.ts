import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import { createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { createServer as createSocketServer } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { createHostProbe } from '../../modules/hosts/use/hostProbe.ts';
import { createHostDns } from '../../platform/outbound/hostDns.ts';
import type { Outbound, OutboundOptions } from '../../platform/outbound/outbound.ts';
import { createOutbound } from '../../platform/outbound/outbound.ts';
import { createTargetSlots } from '../../platform/outbound/targetSlots.ts';
import { isSandboxName, rerouteToSandbox } from '../../process/sandboxWeb.ts';
import { TEST_CERTIFICATE, TEST_KEY } from '../support/certificate.ts';

const cleanups: (() => Promise<unknown> | unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

function open(options: OutboundOptions = { allowLoopback: true }): Outbound {
  const outbound = createOutbound(options);
  cleanups.unshift(() => outbound.close());
  return outbound;
}

async function serve(listener: RequestListener): Promise<number> {
  const server = createServer({ maxHeaderSize: 1 << 20 }, listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cleanups.push(() => {
    server.close();
    server.closeAllConnections();
  });
  return (server.address() as AddressInfo).port;
}

/** A server that writes what it likes to every connection. */
async function serveRaw(answer: (socket: Socket) => void): Promise<number> {
  const server = createSocketServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => answer(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cleanups.push(() => server.close());
  return (server.address() as AddressInfo).port;
}

const probeOf = (outbound: Outbound) => createHostProbe({ outbound, dns: createHostDns(), fleetHost: null, timeoutMs: 3_000 });
const TARGET = { host: 'receiver.example', method: 'well-known', token: 't'.repeat(43) } as const;

/** Probes a TLS site behind a resolver of the test's own. */
async function proveAgainst(listener: RequestListener, addresses: (port: number) => string[] = () => ['127.0.0.1']) {
  const server = createTlsServer({ key: TEST_KEY, cert: TEST_CERTIFICATE }, listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cleanups.push(() => {
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo;
  const resolve = async () => addresses(port).map((address) => ({ address, port }));
  return open({ allowLoopback: true, resolve, ca: TEST_CERTIFICATE });
}

test('a header of 10 MB is too_large, and not all of it is taken', async () => {
  let sent = 0;
  const port = await serveRaw((socket) => {
    socket.write('HTTP/1.1 200 OK\r\nx-a: ');
    const more = (): void => {
      while (!socket.destroyed && sent < 10_000_000) {
        sent += 65_536;
        if (!socket.write('a'.repeat(65_536))) {
          socket.once('drain', more);
          return;
        }
      }
    };
    more();
  });
  expect(await open().send({ url: `http://127.0.0.1:${port}/` })).toMatchObject({ ok: false, reason: 'too_large' });
});

test.each([
  ['headers that drip', 'HTTP/1.1 200 OK\r\nx-a: '],
  ['a body that drips', 'HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n'],
  ['chunks that drip', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n'],
])('%s end with timeout when the whole time is up, though each piece comes soon', async (_name, head) => {
  const port = await serveRaw((socket) => {
    socket.write(head);
    const timer = setInterval(() => socket.write(head.includes('chunked') ? '1\r\na\r\n' : 'a'), 20);
    socket.once('close', () => clearInterval(timer));
  });
  expect(await open().send({ url: `http://127.0.0.1:${port}/`, timeoutMs: 300 })).toMatchObject({ ok: false, reason: 'timeout' });
});

test('more requests to one target than it has places for wait for their turn', async () => {
  let running = 0;
  let most = 0;
  const waiting: (() => void)[] = [];
  const port = await serve(async (_request, response) => {
    most = Math.max(most, ++running);
    const isAnswered = new Promise<void>((resolve) => waiting.push(resolve));
    // Three are answered together, after a while in which a fourth would have come.
    if (waiting.length === 3) setTimeout(() => waiting.splice(0).forEach((answer) => void answer()), 20);
    await isAnswered;
    running -= 1;
    response.end('ok');
  });
  const outbound = open({ allowLoopback: true, perTarget: 3 });
  const url = `http://127.0.0.1:${port}/`;
  const answers = await Promise.all(Array.from({ length: 12 }, () => outbound.send({ url })));
  expect(answers.every((answer) => answer.ok)).toBe(true);
  expect(most).toBe(3);
});

test('whoever waits too long for a place gives up, and the place goes on', async () => {
  const slots = createTargetSlots(1);
  const never = new AbortController().signal;
  let end: () => void = () => undefined;
  const first = slots.run('a', never, () => new Promise<void>((resolve) => (end = resolve)));
  const impatient = new AbortController();
  const second = slots.run('a', impatient.signal, async () => 'second');
  const third = slots.run('a', never, async () => 'third');
  expect(await slots.run('b', never, async () => 'another target')).toBe('another target');
  impatient.abort(new Error('too long'));
  await expect(second).rejects.toThrow('too long');
  end();
  await first;
  expect(await third).toBe('third');
  await expect(slots.run('a', impatient.signal, async () => 'late')).rejects.toThrow('too long');
});

test('our own names are no target', async () => {
  const outbound = open({ ownHosts: ['api.own-service.com'] });
  expect(outbound.checkUrl('https://api.own-service.com/_svc/verify')).toEqual({ ok: false, reason: 'blocked_address' });
  expect(outbound.checkUrl('https://www.own-service.com/')).toEqual({ ok: true });
});

test('names of the sandbox go to its web with their name in Host, and no other name does', async () => {
  const seen: (string | undefined)[] = [];
  const port = await serve((request, response) => {
    seen.push(`${request.headers.host}${request.url}`);
    response.end('ok');
  });
  const resolve = () => Promise.reject(new Error('asked'));
  const outbound = open({ allowLoopback: true, resolve, reroute: rerouteToSandbox(`http://127.0.0.1:${port}`) });
  expect(await outbound.send({ url: 'https://a.alpha.example/x?y=1' })).toMatchObject({ ok: true, status: 200 });
  expect(await outbound.send({ url: 'https://alpha.example.org/' })).toMatchObject({ ok: false, reason: 'dns_error' });
  expect(await outbound.send({ url: 'http://a.alpha.example/' })).toMatchObject({ ok: false, reason: 'invalid_url' });
  expect(seen).toEqual(['a.alpha.example/x?y=1']);
  expect(['sandbox.example', 'x.beta.example'].every(isSandboxName)).toBe(true);
  expect(['notsandbox.example', 'example', 'gamma.example'].some(isSandboxName)).toBe(false);
});

test('a host check names the way it failed: redirect, wrong certificate, private answer, nothing in time', async () => {
  const redirecting = await proveAgainst((_request, response) => {
    response.writeHead(301, { location: 'https://169.254.169.254/' }).end();
  });
  expect(await probeOf(redirecting).prove(TARGET)).toEqual({ ok: false, reason: 'redirect' });
  const silent = await proveAgainst(() => undefined);
  expect(await probeOf(silent).prove(TARGET)).toEqual({ ok: false, reason: 'timeout' });
  const other = await proveAgainst((_request, response) => void response.end(TARGET.token));
  expect(await probeOf(other).prove({ ...TARGET, host: 'other.example' })).toEqual({ ok: false, reason: 'tls_error' });
  const mixed = await proveAgainst(
    (_request, response) => void response.end(TARGET.token),
    () => ['127.0.0.1', '10.0.0.1'],
  );
  expect(await probeOf(mixed).prove(TARGET)).toEqual({ ok: false, reason: 'blocked_address' });
  expect(await probeOf(other).prove(TARGET)).toEqual({ ok: true });
});

test('a host that is rebound between two requests of one check is caught at the second', async () => {
  let lookups = 0;
  let requests = 0;
  const outbound = await proveAgainst(
    (_request, response) => {
      requests += 1;
      response.writeHead(404, { connection: 'close' }).end();
    },
    () => (lookups++ === 0 ? ['127.0.0.1'] : ['169.254.169.254']),
  );
  expect(await probeOf(outbound).prove(TARGET)).toEqual({ ok: false, reason: 'blocked_address' });
  expect(requests).toBe(1);
});

test('a closed port and a refusal look the same to whoever asked for the check', async () => {
  const refusing = await proveAgainst((_request, response) => void response.writeHead(403).end());
  const closed = open({ allowLoopback: true, resolve: async () => [{ address: '127.0.0.1', port: 1 }] });
  const gone = open({ allowLoopback: true, resolve: () => Promise.reject(new Error('NXDOMAIN')) });
  for (const outbound of [refusing, closed, gone]) {
    expect(await probeOf(outbound).prove(TARGET)).toEqual({ ok: false, reason: 'not_verified' });
  }
});

/** A name server that answers every question with one alias and the given TXT records, each split in two; none: NXDOMAIN. */
async function serveDns(texts: readonly string[]): Promise<string> {
  const socket = createSocket('udp4');
  socket.on('message', (question, from) => {
    const nameEnd = question.indexOf(0, 12) + 1;
    const asked = question.subarray(12, nameEnd + 4);
    const record = (name: Buffer, type: number, data: Buffer): Buffer => {
      const head = Buffer.alloc(10);
      head.writeUInt16BE(type, 0);
      head.writeUInt16BE(1, 2);
      head.writeUInt32BE(60, 4);
      head.writeUInt16BE(data.length, 8);
      return Buffer.concat([name, head, data]);
    };
    const alias = Buffer.from('\x05alias\x04test\x00', 'latin1');
    const part = (text: string): Buffer => Buffer.concat([Buffer.from([text.length]), Buffer.from(text)]);
    const answers = texts.map((text) => record(alias, 16, Buffer.concat([part(text.slice(0, 4)), part(text.slice(4))])));
    if (texts.length > 0) answers.unshift(record(Buffer.from([0xc0, 12]), 5, alias));
    const header = Buffer.from(question.subarray(0, 12));
    header.writeUInt16BE(texts.length === 0 ? 0x8183 : 0x8180, 2);
    header.writeUInt16BE(1, 4);
    header.writeUInt16BE(answers.length, 6);
    header.writeUInt32BE(0, 8);
    socket.send(Buffer.concat([header, asked, ...answers]), from.port, from.address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  cleanups.push(() => socket.close());
  return `127.0.0.1:${socket.address().port}`;
}

test('a TXT proof is read through an alias, joined from its parts, and every view of DNS must hold it', async () => {
  const target = { ...TARGET, method: 'dns-txt' } as const;
  const value = `svc-verify=${target.token}`;
  const [right, also, wrong, none] = await Promise.all([
    serveDns(['v=spf1 -all', value]),
    serveDns([value]),
    serveDns(['svc-verify=another']),
    serveDns([]),
  ]);
  const outbound = open();
  const prove = (servers: string[], timeoutMs = 10_000) =>
    createHostProbe({ outbound, dns: createHostDns({ servers, timeoutMs }), fleetHost: null }).prove(target);
  expect(await prove([right])).toEqual({ ok: true });
  expect(await prove([right, also])).toEqual({ ok: true });
  expect(await prove([right, wrong])).toEqual({ ok: false, reason: 'dns_mismatch' });
  expect(await prove([right, none])).toEqual({ ok: false, reason: 'dns_mismatch' });
  expect(await prove([none])).toEqual({ ok: false, reason: 'not_verified' });
  const deaf = createSocket('udp4');
  deaf.bind(0, '127.0.0.1');
  await once(deaf, 'listening');
  cleanups.push(() => deaf.close());
  expect(await prove([`127.0.0.1:${deaf.address().port}`], 200)).toEqual({ ok: false, reason: 'timeout' });
});
