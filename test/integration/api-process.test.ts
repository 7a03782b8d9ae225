import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openDatabase } from '../../db/database.ts';
import { mintKey } from '../../modules/identity/use/keys/keys.ts';
import { createTenant } from '../../modules/tenants/use/tenants.ts';
import { pepperOf } from '../../platform/tokens/pepper.ts';
import { limits } from '../../sandbox/limits.ts';
import { choosePort } from '../../sandbox/parts/ports.ts';
import { ALPHA_PRICING, newSigningKey } from '../support/api.ts';
import type { TestChain, TestDatabase } from '../support/parts.ts';
import { createDatabase, startTestChain, useTemporal } from '../support/parts.ts';
import { scaled } from '../support/patience.ts';
import { startProxy } from '../support/proxy.ts';

let chain: TestChain;
let urls: TestDatabase;
const processes: ChildProcess[] = [];
const pepper = randomBytes(32).toString('hex');

beforeAll(async () => {
  [chain, urls] = await Promise.all([startTestChain({}), createDatabase()]);
});
afterAll(async () => {
  for (const child of processes) child.kill('SIGKILL');
  await chain.stop();
  await urls.drop();
});

function environment(changes: Record<string, string> = {}): NodeJS.ProcessEnv {
  const { address, namespace } = useTemporal();
  return {
    PATH: process.env['PATH'],
    NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'], // half of a start otherwise
    NODE_ENV: 'test',
    PORT: '0',
    DATABASE_URL: urls.appUrl,
    TEMPORAL_ADDRESS: address,
    TEMPORAL_NAMESPACE: namespace,
    NETWORKS: JSON.stringify([{ id: 'eip155:84532', rpcUrls: [chain.rpcUrl], router: chain.router }]),
    QUOTE_TOKEN_SECRETS: randomBytes(32).toString('hex'),
    API_KEY_PEPPER: pepper,
    SECRETS_KEY: randomBytes(32).toString('base64url'),
    LICENCE_KEYS: JSON.stringify({ keys: [newSigningKey()] }),
    ...changes,
  };
}

/** Starts bin/api.ts; gives its lines as they come. */
function start(changes: Record<string, string> = {}, stderr: 'inherit' | 'pipe' = 'inherit') {
  const child = spawn(process.execPath, ['bin/api.ts'], { env: environment(changes), stdio: ['ignore', 'pipe', stderr] });
  processes.push(child);
  const lines: Record<string, unknown>[] = [];
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
  const listening = new Promise<string>((resolve, reject) => {
    if (!child.stdout) throw new Error('no output');
    createInterface({ input: child.stdout }).on('line', (line) => {
      const entry = JSON.parse(line) as Record<string, unknown>;
      lines.push(entry);
      if (entry['msg'] === 'the API listens' && typeof entry['url'] === 'string') resolve(entry['url']);
    });
    // Not on `exit`: its last lines may still be on their way then.
    child.once('close', (code) => reject(new Error(`ended with ${code} before it listened`)));
  });
  return { child, lines, ended, listening };
}

test('a connection without a call stays open longer than the proxy in front keeps it', async () => {
  const proxy = readFileSync('deploy/haproxy.cfg', 'utf8');
  const proxyKeeps = [...proxy.matchAll(/^\s+timeout (?:client|server|http-keep-alive) (\d+)s$/gm)].map(([, seconds]) =>
    Number(seconds),
  );
  const answer = await fetch(`${await start().listening}/.well-known/jwks.json`);
  const [, seconds] = /timeout=(\d+)/.exec(answer.headers.get('keep-alive') ?? '') ?? [];
  expect(Math.max(...proxyKeeps)).toBeGreaterThanOrEqual(60);
  expect(Number(seconds)).toBeGreaterThan(Math.max(...proxyKeeps));
});

test('one network without a node is told by readiness and keeps neither the API nor its readiness from the others', async () => {
  const networks = JSON.stringify([
    { id: 'eip155:8453', rpcUrls: ['http://127.0.0.1:1'], router: chain.router },
    { id: 'eip155:84532', rpcUrls: [chain.rpcUrl], router: chain.router },
  ]);
  const api = start({ NETWORKS: networks });
  const answer = await fetch(`${await api.listening}/readyz`);
  expect([answer.status, await answer.json()]).toMatchObject([
    200,
    { ok: true, checks: { chain: 'ok' }, networks: { 'eip155:8453': 'failed', 'eip155:84532': 'ok' } },
  ]);
  expect(api.lines.find(({ networkId }) => networkId === 'eip155:8453')).toMatchObject({ level: 'warn' });
  api.child.kill('SIGTERM');
  expect(await api.ended).toBe(0);
});

test('a call that comes while the API still starts is told to come again; none is left without an answer', async () => {
  const port = await choosePort(0);
  // Where everything is opened before the first call: elsewhere no call is early enough.
  const api = start({ PORT: String(port), NODE_ENV: 'production', PUBLIC_BASE_URL: 'https://service.example' });
  const ended = api.listening.then(() => true);
  const statuses: number[] = [];
  for (let isOpen = false; !isOpen; ) {
    isOpen = await Promise.race([ended, Promise.resolve(false)]);
    // Refused until the port is bound; from then on each is answered, and an answer that never comes ends the test.
    const call = await fetch(`http://127.0.0.1:${port}/_svc/openapi.json`, { signal: AbortSignal.timeout(scaled(30_000)) }).catch(
      (error: Error) => {
        if (error.name === 'TimeoutError') throw error;
        return null;
      },
    );
    if (call !== null) statuses.push(call.status);
    if (call?.status === 503) expect(call.headers.get('retry-after')).toBe('1');
    if (call === null) await new Promise((resolve) => setTimeout(resolve, 2));
  }
  expect([...new Set(statuses)]).toEqual([503, 200]);
  api.child.kill('SIGTERM');
  expect(await api.ended).toBe(0);
});

test('an API in production starts while the standby that GraphQL reads is away, and GraphQL answers all the same', async () => {
  const replica = await startProxy(Number(new URL(urls.appUrl).port));
  replica.cut();
  const readUrl = new URL(urls.appUrl);
  readUrl.port = String(replica.port);
  const api = start({ NODE_ENV: 'production', PUBLIC_BASE_URL: 'https://service.example', DATABASE_READ_URL: readUrl.href });
  const url = await api.listening;
  const ask = async (): Promise<number> => {
    const body = JSON.stringify({ query: '{ __typename }' });
    return (await fetch(`${url}/_svc/graphql`, { method: 'POST', headers: { 'content-type': 'application/json' }, body })).status;
  };
  expect((await fetch(`${url}/_svc/openapi.json`)).status).toBe(200);
  expect(await ask()).toBe(401);
  api.child.kill('SIGTERM');
  expect(await api.ended).toBe(0);
  await replica.close();
});

test('an API that waits for Postgres lives, says what it waits for, and gives every call 503 with Retry-After', async () => {
  const port = await choosePort(0);
  const database = await startProxy(Number(new URL(urls.appUrl).port));
  database.cut();
  const api = start({
    PORT: String(port),
    DATABASE_URL: Object.assign(new URL(urls.appUrl), { port: String(database.port) }).href,
  });
  const ask = (path: string) => fetch(`http://127.0.0.1:${port}${path}`).catch(() => null);
  await expect
    .poll(async () => (await (await ask('/readyz'))?.json()) as unknown)
    .toEqual({
      ok: false,
      checks: { process: 'failed', database: 'failed' },
    });
  expect((await ask('/healthz'))?.status).toBe(200);
  const quote = await ask('/_svc/quote?slug=trio');
  expect([quote?.status, quote?.headers.get('retry-after')]).toEqual([503, '1']);
  expect(await quote?.json()).toEqual({ ok: false, error: expect.stringMatching(/^database_unavailable: /) });
  expect(api.lines).toMatchObject([{ level: 'warn', part: 'database' }]);
  database.mend();
  await api.listening;
  expect((await ask('/readyz'))?.status).toBe(200);
  api.child.kill('SIGTERM');
  expect(await api.ended).toBe(0);
  await database.close();
});

test('an environment that is not usable ends an API with one line of JSON that lists every problem', async () => {
  const api = start({ DATABASE_URL: '', SECRETS_KEY: 'short' }, 'pipe');
  let said = '';
  api.child.stderr?.on('data', (chunk: Buffer) => {
    said += chunk.toString();
  });
  await expect(api.listening).rejects.toThrow('ended with 1');
  expect(api.lines).toMatchObject([{ level: 'fatal', problems: [{ name: 'DATABASE_URL' }, { name: 'SECRETS_KEY' }] }]);
  expect(said).not.toMatch(/^\s+at /m);
});

test('the API process serves quotes, is ready, and ends with 0 on SIGTERM, also when told twice', async () => {
  const api = start();
  const url = await api.listening;
  expect(await (await fetch(`${url}/readyz`)).json()).toEqual({
    ok: true,
    checks: { process: 'ok', database: 'ok', temporal: 'ok', clock: 'ok', chain: 'ok' },
  });
  const database = await openDatabase({ url: urls.appUrl });
  const { tenantId } = await createTenant({ database }, { hosts: ['alpha.example'], plan: 'studio', pricing: ALPHA_PRICING });
  const { token } = await mintKey(
    { database, pepper: pepperOf({ apiKeyPepper: pepper }) },
    { tenantId, name: 'k', scopes: ['tenant.read'] },
  );
  await database.close();
  const quote = await fetch(`${url}/_svc/quote?slug=trio`, { headers: { authorization: `Bearer ${token}` } });
  expect([quote.status, ((await quote.json()) as { price: number }).price]).toEqual([200, 1000]);
  api.child.kill('SIGTERM');
  api.child.kill('SIGTERM');
  expect(await api.ended).toBe(0);
  expect(JSON.stringify(api.lines)).not.toContain(token);
});

test.each(['https://svc.example', undefined])(
  'every answer of a service at %s, refusals too, is nosniff, and only https binds its callers to https',
  async (baseUrl) => {
    const api = start(baseUrl === undefined ? {} : { PUBLIC_BASE_URL: baseUrl });
    const url = await api.listening;
    const html = { accept: 'text/html' };
    const asked: readonly (readonly [string, RequestInit, number])[] = [
      ['/healthz', {}, 200],
      ['/healthz', { method: 'POST' }, 405],
      ['/_svc/quote?slug=trio', {}, 401],
      ['/_svc/openapi.json', {}, 200],
      ['/_svc/accounts/challenge', { method: 'OPTIONS' }, 204],
      ['/nothing', {}, 404],
      ['/_svc/receipts/%', {}, 400],
      ['/_svc/graphql', { method: 'POST', body: '{}' }, 401],
      ['/_svc/graphql', { headers: html }, 200],
      ['/_svc/console', { headers: html }, 200],
      ['/_svc/console/assets/nothing.js', {}, 404],
    ];
    const strict = baseUrl === undefined ? null : 'max-age=31536000';
    for (const [path, init, status] of asked) {
      const answer = await fetch(`${url}${path}`, init);
      await answer.arrayBuffer();
      const [sniffing, transport] = ['x-content-type-options', 'strict-transport-security'].map((name) =>
        answer.headers.get(name),
      );
      expect([path, answer.status, sniffing, transport]).toEqual([path, status, 'nosniff', strict]);
    }
    api.child.kill('SIGTERM');
    expect(await api.ended).toBe(0);
  },
);

test('an API without calls ends at once, though a balancer keeps a connection to it that carries nothing', async () => {
  const api = start(limits({ drainNoticeMs: 0 }));
  const idle = connect(Number(new URL(await api.listening).port), '127.0.0.1');
  idle.on('error', () => undefined); // it is cut
  await once(idle, 'connect');
  const startedMs = performance.now();
  api.child.kill('SIGTERM');
  expect(await api.ended).toBe(0);
  expect(performance.now() - startedMs).toBeLessThan(10_000);
  idle.destroy();
});

test.each(['keccak', 'secp256k1'])(
  'a process refuses to start where the native code of %s cannot be loaded, and says what to do',
  async (name) => {
    const broken = `const load = process.dlopen; process.dlopen = (module, file, ...rest) => {
    if (file.includes('/${name}/')) throw new Error('wrong ELF class');
    return load(module, file, ...rest);
  };`;
    const api = start({ NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(broken)}` }, 'pipe');
    let said = '';
    api.child.stderr?.on('data', (chunk: Buffer) => {
      said += chunk.toString();
    });
    await expect(api.listening).rejects.toThrow('ended with 1');
    expect(said).toContain(`the package ${name} has no native code for ${process.platform}-${process.arch}: install`);
  },
);

test('an API whose clock is ten minutes ahead is not ready and measures it; one that is six seconds ahead is ready and measures it', async () => {
  const ahead = (seconds: number) => {
    const shift = `const now = Date.now; Date.now = () => now() + ${seconds * 1_000};`;
    const preload = `--import=data:text/javascript,${encodeURIComponent(shift)}`;
    return start({ NODE_OPTIONS: preload, METRICS_PORT: '0' });
  };
  const skewOf = async ({ lines }: ReturnType<typeof start>, name: string): Promise<number> => {
    const { url } = lines.find(({ msg }) => msg === 'metrics are served') as { url: string };
    return Number(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)`, 'm').exec(await (await fetch(url)).text())?.[1]);
  };
  const [wrong, late] = [ahead(600), ahead(6)];
  const url = await wrong.listening;
  await expect.poll(async () => (await fetch(`${url}/readyz`)).status).toBe(503);
  expect(await (await fetch(`${url}/readyz`)).json()).toMatchObject({ checks: { clock: 'failed', database: 'ok', chain: 'ok' } });
  expect(await skewOf(wrong, 'svc_database_clock_skew')).toBeCloseTo(-600, -1);
  await expect.poll(() => skewOf(wrong, 'svc_chain_clock_skew')).toBeLessThan(-590);
  expect((await fetch(`${await late.listening}/readyz`)).status).toBe(200);
  expect(await skewOf(late, 'svc_database_clock_skew')).toBeLessThan(-5);
  for (const { child } of [wrong, late]) child.kill('SIGTERM');
  await Promise.all([wrong.ended, late.ended]);
});

test('the API process refuses to start when the chain is not the configured one', async () => {
  const network = { id: 'eip155:8453', rpcUrls: [chain.rpcUrl], router: chain.router };
  const api = start({ NETWORKS: JSON.stringify([network]) });
  await expect(api.listening).rejects.toThrow('ended with 1');
  expect(JSON.stringify(api.lines)).toContain('chain');
});
