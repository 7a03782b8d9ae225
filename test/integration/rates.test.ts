/** What a caller who asks too often gets, and what others get meanwhile. */
import { randomUUID } from 'node:crypto';
import type { Server } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { createApi } from '../../api/app.ts';
import { generateToken, mintKey } from '../../modules/identity/use/keys/keys.ts';
import { revokeToken } from '../../modules/licences/use/revoke.ts';
import type { RateLimits } from '../../platform/pacing/rates.ts';
import { startTestApi } from '../support/api.ts';

const LIMITS: RateLimits = {
  perSecond: { address: 2, refused: 1, key: 4, tenant: 6, account: 2, account_address: 4 },
  burstSeconds: 10,
};

let api: Awaited<ReturnType<typeof startTestApi>>;
/** The same service without rates. */
let open: { readonly url: string; readonly server: Server; readonly asked: () => number; readonly stop: () => void };
const counted: string[] = [];

beforeAll(async () => {
  const metrics = {
    count: (name: string, _by?: number, labels?: Readonly<Record<string, string>>) =>
      void (labels && counted.push(`${name} ${labels['by']}`)),
    record: () => undefined,
  };
  api = await startTestApi({ rates: LIMITS, trustedProxies: ['127.0.0.1/32'], metrics });
  let asked = 0;
  const { rates: _rates, ...deps } = api.deps;
  const database = async (): Promise<void> => {
    asked++;
    await api.deps.database.query('select pg_sleep(0.05)');
  };
  const server = createServer(createApi({ ...deps, readiness: { ...deps.readiness, database } }));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  open = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    server,
    asked: () => asked,
    stop: () => {
      server.closeAllConnections();
      server.close();
    },
  };
});

afterAll(async () => {
  open.stop();
  await api.stop();
});

// Buckets fill while time passes: it stands still, so that nothing depends on how fast the machine is.
beforeEach(() => {
  api.time.stoppedAtMs = Date.now();
});
afterEach(() => {
  api.time.stoppedAtMs = null;
});

let addresses = 0;
/** Headers of a caller whom nobody has seen before. */
function somewhere(): { readonly 'x-forwarded-for': string } {
  return { 'x-forwarded-for': `198.51.100.${++addresses}` };
}

/** Connections of the database that are taken while `work` runs. */
async function taken(work: () => Promise<void>): Promise<number> {
  const { pool } = api.deps.database;
  let count = 0;
  const note = (): void => {
    count += 1;
  };
  pool.on('acquire', note);
  try {
    await work();
  } finally {
    pool.off('acquire', note);
  }
  return count;
}

test('a key that calls too often is 429 with whole seconds to wait, in the shape of each endpoint, before the database is asked', async () => {
  const site = await api.site();
  const wanted = { key: site.key, headers: somewhere() };
  for (let call = 0; call < 40; call++) expect((await api.request('/_svc/tenants/self', wanted)).status).toBe(200);
  const asked = await taken(async () => {
    const refused = Array.from({ length: 30 }, async () => {
      const plain = await api.request('/_svc/earnings', wanted);
      expect([plain.status, plain.headers.get('x-svc-error-code'), Object.keys(plain.body)]).toEqual([
        429,
        'throttled',
        ['error', 'next'],
      ]);
      expect(plain.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
      const verify = await api.post('/_svc/verify', site.key, 'no JSON', somewhere());
      expect([verify.status, verify.body.ok, verify.body.error]).toEqual([429, false, expect.stringMatching(/^throttled: /)]);
    });
    await Promise.all(refused);
  });
  // Copies in memory are compared meanwhile, once a second.
  expect(asked).toBeLessThan(10);
  const wait = Number((await api.request('/_svc/earnings', wanted)).headers.get('retry-after'));
  api.time.offsetMs += wait * 1_000;
  expect((await api.request('/_svc/earnings', wanted)).status).toBe(200);
  expect(counted).toContain('svc.rate_limited key');
});

test('a call counts once, whether or not the access epoch of its site moved since the call before', async () => {
  const { key, tenantId } = await api.site();
  const headers = somewhere();
  const check = () => api.post('/_svc/license/check', key, {}, headers);
  for (let call = 0; call < 40; call++) {
    if (call % 4 === 3) await revokeToken(api.deps, { tenantId, jti: `moved ${call}` });
    expect((await check()).status).toBe(400);
  }
  expect((await check()).status).toBe(429);
});

test('a quote from memory counts like any other, and the other site is answered', async () => {
  const [busy, quiet] = [await api.site(), await api.site()];
  const ask = ({ key, host }: { key: string; host: string }) =>
    api.request(`/_svc/quote?resource=https://${host}/articles/solo`, { key, headers: somewhere() });
  expect((await ask(busy)).status).toBe(200);
  const statuses = await Promise.all(Array.from({ length: 120 }, () => ask(busy)));
  expect(new Set(statuses.map(({ status }) => status))).toEqual(new Set([200, 429]));
  expect((await ask(quiet)).status).toBe(200);
});

test('all keys of a site share what the site may do', async () => {
  const site = await api.site();
  const keys = [site.key];
  for (const name of ['b', 'c']) keys.push((await mintKey(api.deps, { ...site, name, scopes: ['tenant.read'] })).token);
  let served = 0;
  for (const key of keys) {
    const answers = await Promise.all(Array.from({ length: 40 }, () => api.request('/_svc/tenants/self', { key })));
    served += answers.filter(({ status }) => status === 200).length;
  }
  expect(served).toBe(60);
  expect(counted).toContain('svc.rate_limited tenant');
});

test('an address without a credential is 429 alone: another one is answered, and so is a key from the same', async () => {
  const [flooding, other] = [somewhere(), somewhere()];
  const site = await api.site();
  const quote = (headers: Record<string, string>) => api.post('/_svc/licenses/quote', null, { host: site.host }, headers);
  // Twenty points, ten each.
  const statuses = (await Promise.all(Array.from({ length: 12 }, () => quote(flooding)))).map(({ status }) => status);
  expect(statuses.sort()).toEqual([400, 400, ...Array.from({ length: 10 }, () => 429)]);
  const challenge = '/_svc/accounts/challenge?address=0x1111111111111111111111111111111111111111';
  expect((await api.request(challenge, { headers: flooding })).status).toBe(429);
  expect((await quote(other)).status).toBe(400);
  expect((await api.request('/_svc/tenants/self', { key: site.key, headers: flooding })).status).toBe(200);
});

test.each([
  ['the health of a process', '/healthz', {}, 200],
  ['a path that is none', '/nothing', {}, 404],
  ['a method that a path does not take', '/healthz', { method: 'DELETE' }, 405],
  ['what browsers ask before they send', '/_svc/accounts/challenge', { method: 'OPTIONS' }, 204],
  ['an endpoint for keys, without one', '/_svc/tenants/self', {}, 401],
  ['an endpoint for accounts, without a credential', '/_svc/accounts/budget', {}, 401],
])('%s counts for the address that asks, which is 429 alone', async (_, path, init, status) => {
  const ask = async (headers: Record<string, string>) => (await api.request(path, { ...init, headers })).status;
  const flooding = somewhere();
  const statuses = await Promise.all(Array.from({ length: 30 }, () => ask(flooding)));
  expect(statuses.sort()).toEqual([...Array(20).fill(status), ...Array(10).fill(429)].sort());
  expect(await ask(somewhere())).toBe(status);
});

test('a balancer that asks how the process is, by itself, is always told', async () => {
  const statuses = await Promise.all(Array.from({ length: 60 }, async () => (await api.request('/healthz')).status));
  expect(new Set(statuses)).toEqual(new Set([200]));
});

test('who guesses the secret of a client for licence tokens is 429 after two guesses, whatever is asked for, and no row is looked at', async () => {
  const headers = somewhere();
  const guess = (n: number) => {
    const authorization = `Basic ${btoa(`${randomUUID()}:guess-${n}`)}`;
    const body = new URLSearchParams({ grant_type: 'client_credentials', license: '<license/>', resource: 'https://a.example/' });
    return api.request('/_svc/olp/token', { method: 'POST', body, headers: { ...headers, authorization } });
  };
  expect([(await guess(1)).status, (await guess(2)).status]).toEqual([401, 401]);
  const statuses: number[] = [];
  const asked = await taken(async () => {
    statuses.push(...(await Promise.all(Array.from({ length: 30 }, (_, n) => guess(n + 3)))).map(({ status }) => status));
  });
  expect(statuses).toEqual(Array(30).fill(429));
  // Copies in memory are compared meanwhile, once a second.
  expect(asked).toBeLessThan(10);
});

test.each([
  ['its length told', (body: string) => body],
  ['its length not told', (body: string) => new Blob([body]).stream()],
])('a long body of an address counts by its bytes before it is read, with %s', async (_, sent) => {
  const headers = { ...somewhere(), 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
  const call = (body: BodyInit, from = headers) =>
    api.request('/_svc/mcp', { method: 'POST', headers: from, body, duplex: 'half' } as RequestInit);
  const [short, long] = ['[]', JSON.stringify(['x'.repeat(61_000)])];
  expect((await call(sent(long))).status).toBe(400);
  // Of twenty points seventeen are taken at the most.
  for (let point = 0; point < 3; point++) expect((await call(short)).status).toBe(400);
  const statuses = [await call(sent(long)), await call(sent(long))].map(({ status }) => status);
  expect(statuses).toContain(429);
  // Another address has its own.
  expect((await call(short, { ...headers, ...somewhere() })).status).toBe(400);
});

test('a body that is too long to be read counts for what is taken in of it', async () => {
  const headers = { ...somewhere(), 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
  const call = (body: string) => api.request('/_svc/mcp', { method: 'POST', headers, body });
  expect((await call('x'.repeat(131_072))).status).toBe(400);
  expect((await call('[]')).status).toBe(429);
});

test('an address registers a few clients at once and then one a second, whatever it sends', async () => {
  const headers = { ...somewhere(), 'content-type': 'application/json' };
  const register = () => api.request('/_svc/oauth/register', { method: 'POST', body: '{}', headers });
  const statuses = (await Promise.all(Array.from({ length: 30 }, register))).map(({ status }) => status);
  const registered = statuses.filter((status) => status === 201).length;
  expect(registered).toBeGreaterThanOrEqual(1);
  expect(registered).toBeLessThan(6);
  expect(statuses.filter((status) => status === 429)).toHaveLength(30 - registered);
});

test('who invents keys is 429 after some, and the key of a neighbour that was let in before goes on', async () => {
  const headers = somewhere();
  const site = await api.site();
  expect((await api.request('/_svc/tenants/self', { key: site.key, headers })).status).toBe(200);
  const statuses: number[] = [];
  for (let call = 0; call < 15; call++)
    statuses.push((await api.request('/_svc/tenants/self', { key: `svc_live_${call}`, headers })).status);
  expect([statuses[0], statuses.at(-1)]).toEqual([401, 429]);
  expect((await api.request('/_svc/tenants/self', { key: site.key, headers })).status).toBe(200);
});

test('one wrong key on sixty connections at once is looked up as often as its address may be wrong', async () => {
  const wanted = { key: generateToken('svc_live_'), headers: somewhere() };
  const statuses: number[] = [];
  const asked = await taken(async () => {
    const answers = await Promise.all(Array.from({ length: 60 }, () => api.request('/_svc/tenants/self', wanted)));
    statuses.push(...answers.map(({ status }) => status));
  });
  expect(statuses.filter((status) => status === 401)).toHaveLength(10);
  expect(statuses.filter((status) => status === 429)).toHaveLength(50);
  // Copies in memory are compared meanwhile, once a second.
  expect(asked).toBeLessThan(20);
});

test('a key that asked first for what it may not counts for its site like any other', async () => {
  const site = await api.site();
  let served = 0;
  for (const name of ['a', 'b', 'c']) {
    const { token: key } = await mintKey(api.deps, { ...site, name, scopes: ['tenant.read'] });
    expect((await api.request('/_svc/audit', { key })).status).toBe(403);
    const answers = await Promise.all(Array.from({ length: 30 }, () => api.request('/_svc/tenants/self', { key })));
    served += answers.filter(({ status }) => status === 200).length;
  }
  expect(served).toBe(60);
});

test('fifty observations count for more than one, and are refused before a row is written', async () => {
  const site = await api.site();
  const one = { resource: `https://${site.host}/articles/solo`, slug: 'solo', verdict: 'denied', classifiedAs: 'agent' };
  const send = () =>
    api.post(
      '/_svc/observe',
      site.key,
      Array.from({ length: 50 }, () => one),
      somewhere(),
    );
  const answers = await Promise.all(Array.from({ length: 10 }, send));
  // Forty points, six each.
  expect(answers.filter(({ status }) => status === 202)).toHaveLength(6);
  expect(answers.filter(({ status, body }) => status === 429 && body.ok === false)).toHaveLength(4);
});

test('a statement as PDF counts for more than a CSV does', async () => {
  const site = await api.site();
  // Forty points: two files, or one document, which empties a bucket that holds less than it costs.
  const ask = async (file: string, key: string) => (await api.request(`/_svc/earnings/export.${file}`, { key })).status;
  expect([await ask('pdf', site.key), await ask('pdf', site.key)]).toEqual([200, 429]);
  const other = await api.site();
  expect([await ask('csv', other.key), await ask('csv', other.key), await ask('csv', other.key)]).toEqual([200, 200, 429]);
});

test('a client that does not wait is told twice a second that it must, not as often as it asks', async () => {
  const site = await api.site();
  const ask = () => api.request('/_svc/tenants/self', { key: site.key, headers: somewhere() });
  await Promise.all(Array.from({ length: 40 }, ask));
  const startedAt = performance.now();
  expect((await ask()).status).toBe(429);
  expect(performance.now() - startedAt).toBeGreaterThan(450);
});

test('two hundred reports of one site at once do not stand before one of another', async () => {
  const [busy, quiet] = [await api.site(), await api.site()];
  const ask = ({ key }: { key: string }) => fetch(`${open.url}/_svc/audit`, { headers: { authorization: `Bearer ${key}` } });
  await Promise.all([ask(busy), ask(quiet)]);
  // Nobody's report ends before the other site asks for its own.
  const blocker = new pg.Client({ connectionString: api.urls.ownerUrl });
  await blocker.connect();
  await blocker.query('begin; lock table observation_day in access exclusive mode');
  let arrived = 0;
  open.server.on('request', () => {
    arrived += 1;
  });
  let served = 0;
  const flood = Array.from({ length: 200 }, async () => {
    const { status } = await ask(busy);
    if (status === 200) served += 1;
    return status;
  });
  await expect.poll(() => arrived).toBe(200);
  const other = ask(quiet);
  await expect.poll(() => arrived).toBe(201);
  await blocker.query('rollback');
  await blocker.end();
  expect([(await other).status, served < 20]).toEqual([200, true]);
  expect(new Set(await Promise.all(flood))).toEqual(new Set([200, 429]));
});

test('two hundred at once that ask whether the process is ready cost one question', async () => {
  const before = open.asked();
  const answers = await Promise.all(Array.from({ length: 200 }, () => fetch(`${open.url}/readyz`)));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  expect(open.asked() - before).toBeLessThanOrEqual(2);
});
