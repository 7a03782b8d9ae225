/** deploy/haproxy.cfg in a real HAProxy, with servers of this test behind it. Skipped where there is no `haproxy` to run. */
import type { ChildProcess } from 'node:child_process';
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingHttpHeaders, IncomingMessage, Server, ServerResponse } from 'node:http';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { choosePort, releasePort } from '../../sandbox/parts/ports.ts';

const CONFIG = readFileSync(new URL('../../deploy/haproxy.cfg', import.meta.url), 'utf8');
const isThere = spawnSync('haproxy', ['-v']).status === 0;

const closers: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** What one call was answered. */
interface Heard {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A server behind the proxy that answers 200 with the headers it got; `health` answers the checks. */
async function upstream(health: (response: ServerResponse) => void = (response) => void response.end()): Promise<number> {
  const answer = (incoming: IncomingMessage, response: ServerResponse): void => {
    if (incoming.url === '/readyz' || incoming.url === '/healthz') return health(response);
    response.setHeader('x-request-id', 'given-by-us');
    response.end(JSON.stringify(incoming.headers));
  };
  const server: Server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closers.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

/** The committed configuration, in front of one server instead of those that Docker names. */
async function startProxy(server: number, environment: Readonly<Record<string, string>> = {}) {
  const [port, figures] = [await choosePort(0), await choosePort(0)];
  const folder = mkdtempSync(join(tmpdir(), 'haproxy-'));
  const changed = CONFIG.replace('bind :8080', `bind 127.0.0.1:${port}`)
    .replaceAll(/server-template api \d+ api:8402/g, `server api1 127.0.0.1:${server}`)
    .replace('bind :8405', `bind 127.0.0.1:${figures}`)
    .replace('maxconn 10000', 'maxconn 400');
  expect(changed.match(/server api1 127/g)).toHaveLength(2);
  writeFileSync(join(folder, 'haproxy.cfg'), changed);
  const child: ChildProcess = spawn('haproxy', ['-f', join(folder, 'haproxy.cfg')], { env: { ...process.env, ...environment } });
  const said: string[] = [];
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk: Buffer) => said.push(chunk.toString()));
  const ended = new Promise((resolve) => child.once('exit', resolve));
  closers.push(async () => {
    child.kill('SIGKILL');
    await ended;
    for (const one of [port, figures]) releasePort(one);
    rmSync(folder, { recursive: true, force: true });
  });
  const ask = (path: string, from = '127.0.0.1', headers: Readonly<Record<string, string>> = {}): Promise<Heard> =>
    new Promise((resolve, reject) => {
      const call = request({ host: '127.0.0.1', port, path, localAddress: from, headers, agent: false }, (response) => {
        let body = '';
        response.on('data', (chunk: Buffer) => {
          body += chunk.toString();
        });
        response.once('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body }));
      });
      call.once('error', reject);
      call.end();
    });
  // From an address that no test counts.
  await expect
    .poll(() =>
      ask('/', '127.0.0.200').then(
        ({ status }) => status,
        () => 0,
      ),
    )
    .toBe(200);
  return { ask, said: () => said.join('') };
}

/** Statuses of so many calls at one time. */
const flood = async (count: number, ask: () => Promise<Heard>): Promise<Heard[]> =>
  Promise.all(Array.from({ length: count }, ask));

describe.skipIf(!isThere)(
  `deploy/haproxy.cfg${isThere ? '' : ' (skipped: there is no haproxy here; apt-get install haproxy)'}`,
  () => {
    test('a flood from one address is 429 in the shape of the endpoint, and another address is served', async () => {
      const { ask } = await startProxy(await upstream(), { CALLS_IN_10S: '50', FRONT_PROXIES: '127.0.0.9' });
      const statuses = (await flood(80, () => ask('/_svc/quote'))).map(({ status }) => status);
      expect([statuses.filter((status) => status === 200).length <= 50, statuses.includes(429)]).toEqual([true, true]);
      const plain = await ask('/_svc/quote');
      expect([plain.status, plain.headers['retry-after'], plain.headers['x-svc-error-code']]).toEqual([429, '10', 'throttled']);
      expect(JSON.parse(plain.body)).toMatchObject({ error: expect.stringMatching(/^throttled: /) });
      expect(JSON.parse((await ask('/_svc/verify')).body)).toMatchObject({
        ok: false,
        error: expect.stringMatching(/^throttled: /),
      });
      expect(JSON.parse((await ask('/_svc/graphql')).body).errors[0].extensions.code).toBe('THROTTLED');
      expect((await ask('/_svc/licenses/quote')).headers['access-control-allow-origin']).toBe('*');
      expect((await ask('/_svc/quote', '127.0.0.2')).status).toBe(200);
    });

    test('callers behind what stands in front are told apart by what it says, and nobody else is believed', async () => {
      const { ask } = await startProxy(await upstream(), { CALLS_IN_10S: '20', FRONT_PROXIES: '127.0.0.9' });
      const behind = (address: string) => ask('/', '127.0.0.9', { 'x-forwarded-for': `192.0.2.66, ${address}` });
      await flood(30, () => behind('198.51.100.1'));
      expect((await behind('198.51.100.1')).status).toBe(429);
      const other = await behind('198.51.100.2');
      expect([other.status, JSON.parse(other.body)['x-forwarded-for']]).toEqual([200, '198.51.100.2']);
      const spoofed = await ask('/', '127.0.0.3', { 'x-forwarded-for': '198.51.100.7', forwarded: 'for=198.51.100.7' });
      expect(JSON.parse(spoofed.body)).toMatchObject({ 'x-forwarded-for': '127.0.0.3' });
      expect(JSON.parse(spoofed.body)).not.toHaveProperty('forwarded');
      for (let spoof = 0; spoof < 30; spoof++) await ask('/', '127.0.0.3', { 'x-forwarded-for': `198.51.100.${spoof}` });
      expect((await ask('/', '127.0.0.3', { 'x-forwarded-for': '198.51.100.99' })).status).toBe(429);
    });

    test('an address has so many calls on their way at once, and then others are served', async () => {
      const held: ServerResponse[] = [];
      const server = createServer((incoming, response) => {
        if (incoming.url === '/slow') held.push(response);
        else response.end();
      });
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      closers.push(() => {
        server.closeAllConnections();
        server.close();
      });
      const { port } = server.address() as AddressInfo;
      const { ask } = await startProxy(port, { CALLS_AT_ONCE: '5', FRONT_PROXIES: '127.0.0.9' });
      const behind = (path: string, address: string) => ask(path, '127.0.0.9', { 'x-forwarded-for': address });
      const slow = Array.from({ length: 5 }, () => behind('/slow', '198.51.100.1'));
      await expect.poll(() => held.length).toBe(5);
      expect((await behind('/', '198.51.100.1')).status).toBe(429);
      expect((await behind('/', '198.51.100.2')).status).toBe(200);
      for (const response of held) response.end();
      expect((await Promise.all(slow)).map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
      // A sixth connection of one address that is no proxy of ours is not taken.
      const five = Array.from({ length: 5 }, () => ask('/slow', '127.0.0.4'));
      await expect.poll(() => held.length).toBe(10);
      await expect(ask('/', '127.0.0.4')).rejects.toThrow();
      for (const response of held) response.end();
      await Promise.all(five);
    });

    test('three health checks that stall for longer than their interval throw out nobody', async () => {
      let isStalling = false;
      let stalled = 0;
      const port = await upstream((response) => {
        if (!isStalling || stalled >= 6) return void response.end();
        stalled += 1;
        setTimeout(() => response.end(), 1_200);
      });
      const { ask, said } = await startProxy(port);
      isStalling = true;
      const statuses: number[] = [];
      // The checks of both backends, three of each.
      while (stalled < 6) {
        statuses.push((await ask('/')).status);
        await wait(50);
      }
      for (let after = 0; after < 10; after++) statuses.push((await ask('/')).status);
      expect([new Set(statuses), said().includes('DOWN')]).toEqual([new Set([200]), false]);
    });

    test('how the parts behind are is told to what stands in front, not to its callers', async () => {
      const { ask } = await startProxy(await upstream(), { FRONT_PROXIES: '127.0.0.9' });
      expect((await ask('/readyz', '127.0.0.9')).status).toBe(200);
      const refused = [await ask('/readyz'), await ask('/metrics'), await ask('/readyz?x=1')];
      refused.push(await ask('/readyz', '127.0.0.9', { 'x-forwarded-for': '198.51.100.1' }));
      expect(refused.map(({ status }) => status)).toEqual([404, 404, 404, 404]);
      expect((await ask('/healthz')).status).toBe(200);
      expect(refused[0]?.headers['x-content-type-options']).toBe('nosniff');
    });

    test('the log has a line of JSON for each call, without its query and without its credential', async () => {
      const { ask, said } = await startProxy(await upstream());
      await ask('/_svc/quote"\\?resource=https://secret.example/', '127.0.0.2', { authorization: 'Bearer svc_live_secret' });
      const line = (): string | undefined =>
        said()
          .split('\n')
          .find((one) => one.includes('"127.0.0.2"'));
      await expect.poll(line).toBeDefined();
      expect(JSON.parse(line() as string)).toMatchObject({ path: '/_svc/quote"\\', status: 200, requestId: 'given-by-us' });
      expect(said()).not.toContain('secret');
    });
  },
);
