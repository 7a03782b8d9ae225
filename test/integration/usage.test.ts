import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createBuyerAccount } from '../../modules/identity/use/accounts/clients.ts';
import { mintReReadLicence } from '../../modules/licences/use/mint.ts';
import { revokeLicence, revokeToken } from '../../modules/licences/use/revoke.ts';
import { REPORTS_A_DAY } from '../../modules/storefront/rules/usage.ts';
import { importPages } from '../../modules/storefront/use/licences/offering.ts';
import { setTenantStatus } from '../../modules/tenants/use/tenants.ts';
import type { TestAnswer } from '../support/api.ts';
import { startTestApi, WALLETS } from '../support/api.ts';
import type { TestApi } from '../support/buyers.ts';
import { sellLicence } from '../support/buyers.ts';

/** What buyers report of their use: by a licence or by an account, once each, for their own purchases alone, and never money. */

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
let api: TestApi;
let site: Awaited<ReturnType<TestApi['site']>>;
let buyer: { accountId: string; token: string };
beforeAll(async () => {
  api = await startTestApi();
  site = await api.site();
  buyer = await createBuyerAccount(api.deps);
});
afterAll(() => api.stop());

const page = (slug = 'solo', host = site.host): string => `https://${host}/articles/${slug}`;
const wanted = (changes: Record<string, unknown> = {}) => ({
  host: site.host,
  scope: ['/articles/*'],
  terms: ['ai-input'],
  periodDays: 30,
  kind: 'read' as const,
  ...changes,
});
const sold = async (changes: Record<string, unknown> = {}): Promise<string> =>
  (await sellLicence(api, buyer.accountId, wanted(changes))).jti;
const opened = async (jti: string, body: unknown = {}): Promise<string> =>
  (await api.post(`/_svc/licenses/${jti}/access`, buyer.token, body)).body.license;

function mint(changes: { jti?: string; slug?: string; issuedAtMs?: number; tenantId?: string } = {}): Promise<string> {
  const seconds = Math.floor((changes.issuedAtMs ?? Date.now()) / 1_000) - 1;
  const { kid } = api.deps.keyring.current();
  return mintReReadLicence(api.deps.keyring, {
    issuer: api.deps.baseUrl,
    tenantId: changes.tenantId ?? site.tenantId,
    host: site.host,
    slug: changes.slug ?? 'solo',
    kind: 'read',
    payer: `0x${'5'.repeat(40)}`,
    network: 'eip155:84532',
    amountMicro: 1_000n,
    settlementRef: null,
    settlementRefKind: 'none',
    payees: [{ toAddress: WALLETS[0]!, amountMicro: 1_000n }],
    jti: changes.jti ?? randomUUID(),
    issuedAtSeconds: seconds,
    expiresAtSeconds: seconds + 600,
    kid,
  });
}

const report = (body: object, token: string | null = null): Promise<TestAnswer> =>
  api.post('/_svc/usage', token, { idempotencyId: randomUUID(), resource: page(), use: 'ai-input', ...body });
const codeOf = async (answer: Promise<TestAnswer>): Promise<readonly [number, string | null]> => {
  const { status, headers } = await answer;
  return [status, headers.get('x-svc-error-code')];
};
const rowsOf = (jti: string) =>
  api.deps.database.query(
    'select tenant_id, slug, use, count, within_terms from usage_report where licence_jti = $1 order by report_id',
    [jti],
  );

test('a re-read licence of a page reports its use, without any account; the same report again is one row', async () => {
  const jti = randomUUID();
  const body = { idempotencyId: 'answer-1', licence: await mint({ jti }), count: 3, at: Date.now() };
  const answers = await Promise.all([report(body), report(body), report(body)]);
  expect(answers.map(({ status, body: told }) => [status, told])).toEqual(Array(3).fill([202, { ok: true }]));
  expect(await rowsOf(jti)).toEqual([{ tenant_id: site.tenantId, slug: 'solo', use: 'ai-input', count: 3, within_terms: null }]);
  expect(await codeOf(report({ ...body, count: 4 }))).toEqual([409, 'idempotency_conflict']);
  expect((await report({ ...body, idempotencyId: 'answer-2', use: 'search' })).status).toBe(202);
  expect(await rowsOf(jti)).toHaveLength(2);
});

test('a licence over pages is reported by its account or by a token of it, as one licence; a use beyond its terms is written as that', async () => {
  const jti = await sold();
  expect((await report({ jti, use: 'ai-train' }, buyer.token)).status).toBe(202);
  const twice = { idempotencyId: 'one', resource: page('trio'), at: Date.now() };
  expect((await report({ ...twice, licence: await opened(jti) })).status).toBe(202);
  expect((await report({ ...twice, jti: jti.toUpperCase() }, buyer.token)).status).toBe(202);
  expect(await rowsOf(jti)).toEqual([
    { tenant_id: site.tenantId, slug: 'solo', use: 'ai-train', count: 1, within_terms: false },
    { tenant_id: site.tenantId, slug: 'trio', use: 'ai-input', count: 1, within_terms: true },
  ]);
});

test('nobody reports for a licence of somebody else, for a page outside it, or for a site that did not sell it', async () => {
  const jti = await sold({ scope: ['/articles/solo$'] });
  const other = await createBuyerAccount(api.deps);
  const elsewhere = await api.site();
  const narrow = await opened(await sold(), { paths: ['/articles/solo'] });
  const refused: readonly (readonly [Promise<TestAnswer>, number, string])[] = [
    [report({ jti }), 401, 'missing_credential'],
    [report({ jti }, other.token), 404, 'not_found'],
    [report({ jti: 'no-uuid' }, buyer.token), 404, 'not_found'],
    [report({ jti, resource: page('solo', elsewhere.host) }, buyer.token), 404, 'not_found'],
    [report({ jti, resource: page('trio') }, buyer.token), 409, 'conflict'],
    [report({ licence: narrow, resource: page('trio') }), 401, 'unknown_credential'],
    [report({ licence: await mint(), resource: page('trio') }), 401, 'unknown_credential'],
    [report({ licence: await mint(), resource: page('solo', elsewhere.host) }), 401, 'unknown_credential'],
    [report({ licence: await mint(), resource: 'https://nobody.example/articles/solo' }), 401, 'unknown_credential'],
    [report({ licence: await mint({ tenantId: elsewhere.tenantId }) }), 401, 'unknown_credential'],
    [report({ licence: `${(await mint()).slice(0, -4)}AAAA` }), 401, 'unknown_credential'],
    [report({ licence: await opened(await sold(), { holder: WALLETS[0] }) }), 401, 'unknown_credential'],
    [report({ licence: await mint(), jti }, buyer.token), 400, 'invalid_parameter'],
    [report({}), 400, 'invalid_parameter'],
  ];
  for (const [answer, status, code] of refused) expect(await codeOf(answer)).toEqual([status, code]);
  expect(await rowsOf(jti)).toEqual([]);
});

test('what was revoked, and what a suspended site sold, reports nothing more', async () => {
  const jti = await sold();
  const token = await opened(jti);
  const re = { jti: randomUUID() };
  await revokeLicence(api.deps, { tenantId: site.tenantId, jti });
  await revokeToken(api.deps, { tenantId: site.tenantId, jti: re.jti });
  expect(await codeOf(report({ jti }, buyer.token))).toEqual([404, 'not_found']);
  expect(await codeOf(report({ licence: token }))).toEqual([401, 'unknown_credential']);
  expect(await codeOf(report({ licence: await mint(re) }))).toEqual([401, 'unknown_credential']);
  const closing = await api.site();
  const closed = (await sellLicence(api, buyer.accountId, wanted({ host: closing.host }))).jti;
  const licence = await opened(closed);
  const resource = page('solo', closing.host);
  await setTenantStatus(api.deps, { tenantId: closing.tenantId, status: 'suspended' });
  expect(await codeOf(report({ jti: closed, resource }, buyer.token))).toEqual([404, 'not_found']);
  expect(await codeOf(report({ licence, resource }))).toEqual([401, 'unknown_credential']);
});

test('a use is judged at its own moment: told up to a week late, never from before the licence or after it', async () => {
  const nowMs = Math.floor(Date.now() / 1_000) * 1_000;
  const licence = await mint({ issuedAtMs: nowMs - 6 * DAY_MS });
  expect((await report({ licence, at: nowMs - 6 * DAY_MS + 60_000 })).status).toBe(202);
  expect(await codeOf(report({ licence, at: nowMs }))).toEqual([401, 'unknown_credential']);
  expect(await codeOf(report({ licence, at: nowMs - 6 * DAY_MS - HOUR_MS }))).toEqual([401, 'unknown_credential']);
  const jti = await sold();
  expect(await codeOf(report({ jti, at: nowMs - HOUR_MS }, buyer.token))).toEqual([403, 'outside_period']);
  for (const at of [nowMs - 8 * DAY_MS, nowMs + HOUR_MS]) {
    expect(await codeOf(report({ jti, at }, buyer.token))).toEqual([400, 'invalid_parameter']);
  }
});

test('what a report may hold is closed', async () => {
  const licence = await mint();
  const wrong: readonly object[] = [
    ...[0, -1, 1.5, 1_000_001, '3', null].map((count) => ({ count })),
    ...['', 'a b', 'é', 'x'.repeat(129), 7].map((idempotencyId) => ({ idempotencyId })),
    ...['reading', '', 'AI-INPUT', null].map((use) => ({ use })),
    ...[1.5, '0', -1, 8.64e15 + 1].map((at) => ({ at })),
    ...['', 'ftp://x.example/', '/articles/solo', `https://${site.host}/%00`.repeat(100)].map((resource) => ({ resource })),
    { licence: 'x'.repeat(4_097) },
  ];
  for (const change of wrong) expect([change, (await report({ licence, ...change })).status]).toEqual([change, 400]);
  expect((await report({ licence, text: 'x'.repeat(17_000) })).status).toBe(400);
});

test('a page lets write fifty reports a day however many are sent at once; the next day takes more', async () => {
  api.time.stoppedAtMs = Date.UTC(2027, 0, 5, 23, 59, 0);
  const jti = randomUUID();
  const licence = await mint({ jti, issuedAtMs: api.time.stoppedAtMs });
  const answers = await Promise.all(Array.from({ length: REPORTS_A_DAY.page + 5 }, () => report({ licence })));
  expect(answers.filter(({ status }) => status === 202)).toHaveLength(REPORTS_A_DAY.page);
  const full = answers.filter(({ status }) => status === 429);
  expect(full.map(({ headers }) => headers.get('retry-after'))).toEqual(Array(5).fill('60'));
  expect(await rowsOf(jti)).toHaveLength(REPORTS_A_DAY.page);
  api.time.stoppedAtMs += 61_000;
  expect((await report({ licence })).status).toBe(202);
  api.time.stoppedAtMs = null;
});

test('an imported page outside the article prefixes is reported under its licence, by the slug it was sold with', async () => {
  const { tenantId } = site;
  const credits = { contributors: [{ authorId: 'ann', wallet: WALLETS[0] }] };
  await importPages(api.deps, { tenantId, pages: [{ slug: 'about-us', path: '/about/us', credits }] });
  const jti = await sold({ scope: ['/about/*'] });
  expect((await report({ licence: await opened(jti), resource: `https://${site.host}/about/us` })).status).toBe(202);
  expect(await rowsOf(jti)).toMatchObject([{ slug: 'about-us' }]);
});
