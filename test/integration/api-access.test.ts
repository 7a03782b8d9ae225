import { request as httpRequest } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { listKeys } from '../../modules/identity/store/keys.ts';
import { authenticate } from '../../modules/identity/use/authenticate.ts';
import { mintKey, revokeKey } from '../../modules/identity/use/keys/keys.ts';
import { openKeyUse } from '../../modules/identity/use/keys/keyUse.ts';
import { setTenantPlan, setTenantStatus } from '../../modules/tenants/use/tenants.ts';
import { startTestApi } from '../support/api.ts';

let api: Awaited<ReturnType<typeof startTestApi>>;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.stop());

const ENDPOINTS = [
  { path: '/_svc/quote?slug=solo', method: 'GET', isOkShape: false },
  { path: '/_svc/verify', method: 'POST', isOkShape: true },
  { path: '/_svc/observe', method: 'POST', isOkShape: true },
  { path: '/_svc/license/check', method: 'POST', isOkShape: false },
];

/** Calls an endpoint with a body that no schema accepts. */
function call(endpoint: (typeof ENDPOINTS)[number], key?: string) {
  const init = { method: endpoint.method, ...(key === undefined ? {} : { key }) };
  return api.request(endpoint.path, endpoint.method === 'POST' ? { ...init, body: '{not json' } : init);
}

test.each(ENDPOINTS)(
  '$path answers 401 without, with a mistyped and with an unknown key, before it looks at the body',
  async (endpoint) => {
    const { key } = await api.site();
    const mistyped = `${key.slice(0, -1)}${key.endsWith('A') ? 'B' : 'A'}`;
    const elsewhere = await startTestApi();
    const stranger = (await elsewhere.site()).key;
    await elsewhere.stop();
    for (const bad of [undefined, mistyped, stranger, 'svc_live_short']) {
      const answer = await call(endpoint, bad);
      expect(answer.status).toBe(401);
      expect(answer.headers.get('www-authenticate')).toBe('Bearer');
      expect(answer.headers.get('x-svc-error-code')).toBe(bad === undefined ? 'missing_credential' : 'unknown_credential');
      expect(Object.keys(answer.body)).toEqual(endpoint.isOkShape ? ['ok', 'error', 'next'] : ['error', 'next']);
    }
  },
);

test.each(ENDPOINTS)('$path asks for the plan before the scope and for both before the body', async (endpoint) => {
  const poor = await api.site({ plan: 'starter', scopes: ['audit.read'] });
  const gated = await call(endpoint, poor.key);
  expect(gated.status).toBe(403);
  expect(gated.body).toMatchObject({ error: expect.stringMatching(/^plan_gate: /), upgrade: true });
  expect('ok' in gated.body).toBe(endpoint.isOkShape);
  const unscoped = await api.site({ scopes: ['audit.read'] });
  const refused = await call(endpoint, unscoped.key);
  expect(refused.status).toBe(403);
  expect(refused.headers.get('x-svc-error-code')).toBe('scope_missing');
  expect('upgrade' in refused.body).toBe(false);
});

test('a suspended site answers 403, a closed one 401, and no plan counts as free', async () => {
  const site = await api.site();
  await setTenantStatus(api.deps, { tenantId: site.tenantId, status: 'suspended' });
  const suspended = await api.post('/_svc/license/check', site.key, {});
  expect([suspended.status, suspended.headers.get('x-svc-error-code')]).toEqual([403, 'site_suspended']);
  await setTenantStatus(api.deps, { tenantId: site.tenantId, status: 'closed' });
  expect((await api.post('/_svc/license/check', site.key, {})).status).toBe(401);
  const free = await api.site({ plan: null });
  expect((await api.post('/_svc/verify', free.key, {})).body).toMatchObject({ ok: false, upgrade: true });
});

test('a revoked key and a lost plan hold in the very next call that reads Postgres', async () => {
  const site = await api.site();
  expect((await api.post('/_svc/license/check', site.key, {})).status).toBe(400);
  await setTenantPlan(api.deps, { tenantId: site.tenantId, plan: 'free' });
  expect((await api.post('/_svc/license/check', site.key, {})).status).toBe(403);
  await setTenantPlan(api.deps, { tenantId: site.tenantId, plan: 'scale' });
  expect((await api.post('/_svc/license/check', site.key, {})).status).toBe(400);
  await revokeKey(api.deps, site);
  await revokeKey(api.deps, site);
  expect((await api.post('/_svc/license/check', site.key, {})).status).toBe(401);
});

test('a quote with a revoked key is refused at the latest when the copy in memory is two seconds old', async () => {
  const site = await api.site();
  expect((await api.request('/_svc/quote?slug=solo', { key: site.key })).status).toBe(200);
  await revokeKey(api.deps, site);
  api.time.offsetMs += 2_100;
  expect((await api.request('/_svc/quote?slug=solo', { key: site.key })).status).toBe(401);
});

test('a key ends at its expiry, the very millisecond included', async () => {
  const site = await api.site();
  const expiresAtMs = api.deps.clock() + 60_000;
  const { token } = await mintKey(api.deps, { tenantId: site.tenantId, name: 'soon', scopes: ['tenant.read'], expiresAtMs });
  expect((await api.post('/_svc/license/check', token, {})).status).toBe(400);
  api.time.offsetMs += 60_000;
  expect((await api.post('/_svc/license/check', token, {})).status).toBe(401);
});

test('a site holds at most 20 active keys, however many are asked for at once', async () => {
  const site = await api.site();
  const wanted = Array.from({ length: 24 }, (_, n) =>
    mintKey(api.deps, { tenantId: site.tenantId, name: `key ${n}`, scopes: ['tenant.read'] }).then(
      () => 'minted',
      (error: { code: string }) => error.code,
    ),
  );
  const outcomes = await Promise.all(wanted);
  expect(outcomes.filter((outcome) => outcome === 'minted')).toHaveLength(19);
  expect(outcomes.filter((outcome) => outcome === 'conflict')).toHaveLength(5);
});

test('the database holds no key and no pepper, only a hash under the pepper', async () => {
  const site = await api.site();
  const rows = await api.deps.database.query(
    'select to_jsonb(k) as row from api_key k union all select to_jsonb(h) from api_key_hash h',
  );
  const dump = JSON.stringify(rows);
  expect(dump).not.toContain(site.key);
  expect(dump).not.toContain(site.key.slice(9, -4));
  expect(dump).not.toContain(api.deps.pepper.current);
});

test('test keys are unknown unless they are enabled', async () => {
  const site = await api.site();
  const { token } = await mintKey(api.deps, { tenantId: site.tenantId, name: 't', scopes: ['tenant.read'], prefix: 'svc_test_' });
  expect((await api.request('/_svc/quote?slug=solo', { key: token })).status).toBe(401);
});

test('an unauthenticated call with a large body is answered 401 without its body being taken in', async () => {
  const chunk = Buffer.alloc(65_536, 0x20);
  const answer = await new Promise<{ status: number; sent: number }>((resolve, reject) => {
    let sent = 0;
    const request = httpRequest(`${api.url}/_svc/verify`, { method: 'POST', headers: { 'content-length': 64 * 1024 * 1024 } });
    request.on('response', (response) => {
      response.resume();
      resolve({ status: response.statusCode ?? 0, sent });
      request.destroy();
    });
    request.on('error', reject);
    const write = (): void => {
      if (sent >= 256 * 1024) return;
      sent += chunk.length;
      request.write(chunk, () => setImmediate(write));
    };
    write();
  });
  expect(answer.status).toBe(401);
});

test('every answer names its request and the API version, and a plain request id is kept', async () => {
  const own = await api.request('/healthz', { headers: { 'x-request-id': 'abc-123' } });
  expect(own.headers.get('x-request-id')).toBe('abc-123');
  const made = await api.request('/_svc/nothing', { headers: { 'x-request-id': 'not plain!' } });
  expect(made.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
  expect(made.headers.get('svc-api-version')).toBe('1.0.0');
});

test('unknown paths are 404, wrong methods 405 with Allow, in the shape of their endpoint', async () => {
  const missing = await api.request('/_svc/nothing');
  expect([missing.status, Object.keys(missing.body)]).toEqual([404, ['error', 'next']]);
  const quote = await api.request('/_svc/quote', { method: 'DELETE' });
  expect([quote.status, quote.headers.get('allow'), Object.keys(quote.body)]).toEqual([405, 'GET, HEAD', ['error', 'next']]);
  const verify = await api.request('/_svc/verify');
  expect([verify.status, verify.headers.get('allow'), verify.body.ok]).toEqual([405, 'POST', false]);
  const buying = await api.request('/_svc/licenses');
  expect([buying.status, buying.headers.get('allow')]).toEqual([405, 'POST, OPTIONS']);
  for (const method of ['GET', 'OPTIONS', 'DELETE']) {
    const bodies = await api.request('/_svc/receipts/bodies', { method });
    expect([bodies.status, bodies.headers.get('allow')], `${method}: the page of one receipt does not answer here`).toEqual([
      405,
      'POST',
    ]);
  }
});

test('errors are problem details only for a client that asks for them', async () => {
  const plain = await api.request('/_svc/quote');
  expect(plain.headers.get('content-type')).toContain('application/json');
  const problem = await api.request('/_svc/quote', { headers: { accept: 'application/problem+json' } });
  expect(problem.headers.get('content-type')).toContain('application/problem+json');
  expect(problem.body).toMatchObject({ type: 'about:blank', title: 'missing_credential', status: 401, error: plain.body.error });
  for (const [path, members] of [
    ['/_svc/quote', {}],
    ['/_svc/observe', { ok: false }],
  ] as const) {
    const refused = await api.request(path, { method: 'DELETE', headers: { accept: 'application/problem+json' } });
    expect([refused.status, refused.headers.get('content-type')]).toEqual([405, 'application/problem+json']);
    expect(refused.headers.get('x-svc-error-code')).toBe('method_not_allowed');
    const detail = 'this path does not support this method';
    const error = `method_not_allowed: ${detail}`;
    const told = { type: 'about:blank', title: 'method_not_allowed', status: 405, detail, error };
    expect(refused.body).toEqual({ ...told, ...members, next: { action: 'fix_request' } });
  }
});

test('bodies over their limit, too deep, compressed, not UTF-8 or not JSON are 400', async () => {
  const { key } = await api.site();
  const deep = `${'['.repeat(17)}${']'.repeat(17)}`;
  const cases: [string, string | Uint8Array<ArrayBuffer>, string][] = [
    ['/_svc/verify', JSON.stringify({ payment: 'x'.repeat(65_536) }), 'body_too_large'],
    ['/_svc/observe', ' '.repeat(262_145), 'body_too_large'],
    ['/_svc/observe', deep, 'malformed_body'],
    ['/_svc/verify', '', 'malformed_body'],
    ['/_svc/verify', new Uint8Array([0x22, 0xff, 0x22]), 'malformed_body'],
    ['/_svc/verify', '{"a":', 'malformed_body'],
  ];
  for (const [path, body, code] of cases) {
    const answer = await api.request(path, { method: 'POST', key, body });
    expect([answer.status, answer.headers.get('x-svc-error-code')]).toEqual([400, code]);
  }
  const packed = await api.post('/_svc/verify', key, '{}', { 'content-encoding': 'gzip' });
  expect(packed.status).toBe(400);
  const strings = `{"a":"${'['.repeat(40)}"}`;
  expect((await api.post('/_svc/observe', key, strings)).body.error).toMatch(/^malformed_body: resource/);
});

test('readiness names the part that does not answer, liveness does not depend on it', async () => {
  expect((await api.request('/readyz')).body).toEqual({ ok: true, checks: { database: 'ok', temporal: 'ok', chain: 'ok' } });
  api.failing.add('chain');
  // What became of asking another part is remembered for a second.
  await expect.poll(async () => (await api.request('/readyz')).status).toBe(503);
  expect((await api.request('/readyz')).body.checks.chain).toBe('failed');
  expect((await api.request('/healthz')).status).toBe(200);
  api.failing.clear();
});

test('the API description is OpenAPI 3.1.0, names every endpoint, and has an ETag', async () => {
  const answer = await api.request('/_svc/openapi.json');
  expect(answer.body).toMatchObject({ openapi: '3.1.0', info: { version: '1.0.0' } });
  expect(Object.keys(answer.body.paths)).toEqual(
    expect.arrayContaining(['/_svc/quote', '/_svc/verify', '/_svc/observe', '/_svc/license/check', '/_svc/openapi.json']),
  );
  const etag = answer.headers.get('etag') ?? '';
  expect(etag).toMatch(/^"/);
  expect((await api.request('/_svc/openapi.json', { headers: { 'if-none-match': etag } })).status).toBe(304);
});

test('when a key was last let in is kept to the minute, and a refused call leaves it as it was', async () => {
  const { key, tenantId } = await api.site();
  const { database, clock, log } = api.deps;
  const keyUse = openKeyUse({ database, clock, log });
  const enter = (bearer: string, freshness: 'now' | 'snapshot') =>
    authenticate({ ...api.deps, keyUse }, { bearer }, { publisher: { scope: 'tenant.read', freshness } });
  const lastUsed = async () => {
    await keyUse.flush();
    return (await listKeys(database, tenantId))[0]?.lastUsedAt?.getTime() ?? null;
  };
  const refused = enter(`${key.slice(0, -1)}${key.endsWith('A') ? 'B' : 'A'}`, 'now');
  await expect(refused).rejects.toMatchObject({ code: 'unknown_credential' });
  expect(await lastUsed()).toBeNull();
  await enter(key, 'now');
  const first = await lastUsed();
  expect(Math.abs((first ?? 0) - clock())).toBeLessThan(60_000);
  await enter(key, 'snapshot');
  expect(await lastUsed()).toBe(first);
  api.time.offsetMs += 61_000;
  await enter(key, 'now');
  expect((await lastUsed()) ?? 0).toBeGreaterThan((first ?? 0) + 60_000);
  api.time.offsetMs = 0;
  await keyUse.close();
});
