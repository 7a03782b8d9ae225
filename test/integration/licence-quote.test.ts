import { request } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createBuyerAccount } from '../../modules/identity/use/accounts/clients.ts';
import { importPages, setLicenceOffering } from '../../modules/storefront/use/licences/offering.ts';
import { setPricing, setTenantStatus } from '../../modules/tenants/use/tenants.ts';
import { startTestApi, WALLETS } from '../support/api.ts';
import type { TestApi } from '../support/buyers.ts';

let api: TestApi;
let site: Awaited<ReturnType<TestApi['site']>>;
beforeAll(async () => {
  api = await startTestApi();
  site = await api.site();
});
afterAll(() => api.stop());

const DAY_MS = 86_400_000;
const wanted = (changes: Record<string, unknown> = {}) => ({
  host: site.host,
  scope: ['/articles/*'],
  terms: ['ai-input', 'search'],
  periodDays: 30,
  kind: 'read',
  ...changes,
});
const quote = (changes: Record<string, unknown> = {}) => api.post('/_svc/licenses/quote', null, wanted(changes));

test('a quote has the six members of the specification; its legs are every author of every page and sum to the price', async () => {
  const { status, body } = await quote();
  expect(status).toBe(200);
  expect(Object.keys(body).sort()).toEqual(['legs', 'patterns', 'period', 'priceMicro', 'resourceCount', 'terms']);
  expect(body).toMatchObject({ priceMicro: 3_000, patterns: ['/articles/*'], terms: ['search', 'ai-input'], resourceCount: 3 });
  expect(body.period.until - body.period.from).toBe(30 * DAY_MS);
  const byWallet = new Map(
    body.legs.map((leg: { toAddress: string; amountMicro: number }) => [leg.toAddress.toLowerCase(), leg.amountMicro]),
  );
  expect(WALLETS.map((wallet) => byWallet.get(wallet))).toEqual([1_500, 550, 450, 500]);
  expect(body.legs.reduce((sum: number, leg: { amountMicro: number }) => sum + leg.amountMicro, 0)).toBe(3_000);
});

test('a longer period and a citation cost their factor; a site can set its own table', async () => {
  const price = async (changes: Record<string, unknown>): Promise<number> => (await quote(changes)).body.priceMicro;
  expect(await Promise.all([1, 30, 31, 60, 61, 366].map((periodDays) => price({ periodDays })))).toEqual([
    3_000, 3_000, 4_500, 4_500, 6_000, 21_000,
  ]);
  expect(await price({ kind: 'citation' })).toBe(15_000);
  const own = await api.site();
  await setLicenceOffering(api.deps, {
    tenantId: own.tenantId,
    sellsTraining: false,
    periodFactors: [
      { upToDays: 1, factor: '0.1' },
      { upToDays: 366, factor: '2' },
    ],
  });
  expect(await Promise.all([0.5, 1, 2].map((periodDays) => price({ host: own.host, periodDays })))).toEqual([300, 300, 6_000]);
});

test('malformed scopes, terms, periods and sites are 400 with a sentence', async () => {
  const bad: Record<string, unknown>[] = [
    { scope: [] },
    { scope: undefined },
    { scope: '/articles/*' },
    { scope: Array.from({ length: 101 }, (_, n) => `/a${n}`) },
    { scope: [`/${'a'.repeat(200)}`] },
    { scope: ['/ü'] },
    { scope: ['/a\u0000'] },
    { scope: ['articles/*'] },
    { scope: [''] },
    { scope: ['/a', '/a'] },
    { scope: [`/${'*a'.repeat(9)}`] },
    { scope: ['/%zz'] },
    { scope: ['https://one.example/a', 'https://two.example/a'] },
    { scope: [7] },
    { terms: [] },
    { terms: undefined },
    { terms: ['train'] },
    { terms: ['search', 'search'] },
    { terms: 'search' },
    { periodDays: 0 },
    { periodDays: -1 },
    { periodDays: null },
    { periodDays: 'a month' },
    { periodDays: 367 },
    { periodDays: 0.01 },
    { periodDays: 1e308 },
    { startsAt: Date.now() - DAY_MS },
    { startsAt: Date.now() + 400 * DAY_MS },
    { startsAt: 'now' },
    { kind: 'train' },
    { holder: '0x1' },
    { host: undefined },
    { host: '' },
    { host: 'a.example', resource: 'https://b.example/' },
    { resource: 'ftp://x', host: undefined },
  ];
  for (const changes of bad) {
    const answer = await quote(changes);
    expect([answer.status, Object.keys(answer.body)], JSON.stringify(changes)?.slice(0, 80)).toEqual([400, ['error', 'next']]);
  }
  expect((await api.post('/_svc/licenses/quote', null, 'no json')).status).toBe(400);
});

test('an unknown site and a scope that covers nothing are 404', async () => {
  for (const changes of [
    { host: 'nobody.example' },
    { scope: ['/nothing/'] },
    { scope: ['/articles/free'] },
    { scope: ['/articles/solo/x$'] },
  ]) {
    expect((await quote(changes)).status, JSON.stringify(changes)).toBe(404);
  }
});

test('a site that cannot be sold as a scope is 409 and says why', async () => {
  const credits = (n: number) => ({ contributors: [{ authorId: `a${n}`, wallet: `0x${String(n).padStart(40, '8')}` }] });
  const pricing = (count: number) => ({
    priceUsdc: '0.001',
    articlePrefixes: ['/articles/'],
    creditsInline: Object.fromEntries(Array.from({ length: count }, (_, n) => [`p${n}`, credits(n)])),
  });
  const [empty, crowd, pending, broke] = await Promise.all([
    api.site({ pricing: { priceUsdc: '0.001' } }),
    api.site({ pricing: pricing(51) }),
    api.site({ status: 'pending' }),
    api.site(),
  ]);
  await importPages(api.deps, { tenantId: broke.tenantId, pages: [{ slug: 'nobody', path: '/articles/nobody' }] });
  const suspended = await api.site();
  await setTenantStatus(api.deps, { tenantId: suspended.tenantId, status: 'suspended' });
  const cases: [Record<string, unknown>, RegExp][] = [
    [{ host: empty.host, scope: ['/'] }, /no catalogue/],
    [{ host: crowd.host }, /more than 50 authors/],
    [{ host: pending.host }, /pending/],
    [{ host: suspended.host }, /suspended/],
    [{ host: broke.host }, /no author of \/articles\/nobody/],
    [{ terms: ['ai-train'] }, /training/],
    [{ terms: ['all'] }, /training/],
  ];
  for (const [changes, sentence] of cases) {
    const answer = await quote(changes);
    expect([answer.status, answer.body.error], JSON.stringify(changes)).toEqual([409, expect.stringMatching(sentence)]);
  }
  expect((await quote({ host: broke.host, scope: ['/articles/solo'] })).status).toBe(200);
  await setLicenceOffering(api.deps, { tenantId: broke.tenantId, sellsTraining: true });
  expect((await quote({ host: broke.host, scope: ['/articles/solo'], terms: ['all'] })).status).toBe(200);
});

test('the limit of 5,000 pages is 5,000', async () => {
  const large = await api.site();
  const credits = { contributors: [{ authorId: 'ann', wallet: WALLETS[0] }] };
  const pages = Array.from({ length: 5_000 }, (_, n) => ({ slug: `page-${n}`, path: `/large/page-${n}`, credits }));
  await importPages(api.deps, { tenantId: large.tenantId, pages });
  const whole = await quote({ host: large.host, scope: ['/large/'] });
  expect(whole.body).toMatchObject({ resourceCount: 5_000, priceMicro: 5_000_000 });
  await importPages(api.deps, { tenantId: large.tenantId, pages: [{ slug: 'one-more', path: '/large/one-more', credits }] });
  const more = await quote({ host: large.host, scope: ['/large/'] });
  expect([more.status, more.body.error]).toEqual([409, expect.stringContaining('5001 pages')]);
});

test('a page imported through another process is in the very next quote, heard of or not', async () => {
  const own = await api.site();
  const count = async (): Promise<number> => (await quote({ host: own.host })).body.resourceCount;
  const before = await count();
  await api.deps.database.transaction(async (sql) => {
    await sql.query(`insert into imported_page (tenant_id, slug, path, credits) values ($1, 'silent', '/articles/silent', $2)`, [
      own.tenantId,
      JSON.stringify({ contributors: [{ authorId: 'ann', wallet: WALLETS[0] }] }),
    ]);
    await sql.query('update tenant set version = version + 1 where tenant_id = $1', [own.tenantId]);
  });
  expect(await count()).toBe(before + 1);
});

/** A quote asked at a host of ours; fetch sets Host by itself. */
function sendAs(host: string, body: string): Promise<{ status: number }> {
  return new Promise((resolve, reject) => {
    const sent = request(`${api.url}/_svc/licenses/quote`, { method: 'POST', headers: { host } }, (response) => {
      response.resume().once('end', () => resolve({ status: response.statusCode ?? 0 }));
    });
    sent.once('error', reject).end(body);
  });
}

test('the site may be named by host, resource, or absolute patterns; a routed host names itself', async () => {
  const url = `https://${site.host}/articles/solo`;
  for (const changes of [{ resource: url }, { scope: [url] }, { host: site.host.toUpperCase() }]) {
    const { status, body } = await quote({ host: undefined, scope: ['/articles/solo'], ...changes });
    expect([status, body.resourceCount]).toEqual([200, 1]);
  }
  const body = JSON.stringify(wanted({ host: undefined }));
  const send = () => sendAs(site.host, body);
  expect((await send()).status).toBe(400);
  await api.deps.database.query('update tenant_host set routing_verified_at = now() where host = $1', [site.host]);
  expect((await send()).status).toBe(200);
});

test('an offer stands ten minutes for its account and request, whatever is edited meanwhile; then it is made anew', async () => {
  const own = await api.site();
  const [one, two] = [await createBuyerAccount(api.deps), await createBuyerAccount(api.deps)];
  const body = wanted({ host: own.host });
  const offer = (token: string) => api.post('/_svc/licenses', token, body);
  const first = await offer(one.token);
  expect(first.status).toBe(402);
  expect(first.headers.get('cache-control')).toBe('no-store');
  const v2 = JSON.parse(Buffer.from(first.headers.get('payment-required') ?? '', 'base64').toString());
  expect(v2).toMatchObject({ x402Version: 2, accepts: [{ scheme: 'exact', network: 'eip155:84532', amount: '3000' }] });
  expect(first.body).toMatchObject({ x402Version: 1, accepts: [{ network: 'base-sepolia', maxAmountRequired: '3000' }] });
  expect(first.body.accepts[0].payTo).toBe(v2.accepts[0].payTo);
  expect(first.body.licence).toMatchObject({ priceMicro: 3_000, resourceCount: 3 });
  await setPricing(api.deps, { tenantId: own.tenantId, pricing: { priceUsdc: '0.002' } });
  await expect.poll(async () => (await quote({ host: own.host })).body.priceMicro).toBe(6_000);
  // What a wallet may sign to show itself is each answer's own.
  const { 'sign-in-with-x': _own, ...standing } = first.body.extensions;
  expect((await offer(one.token)).body).toMatchObject({ ...first.body, extensions: standing });
  expect((await offer(two.token)).body.licence.priceMicro).toBe(6_000);
  api.time.offsetMs = 600_001;
  expect((await offer(one.token)).body.licence.priceMicro).toBe(6_000);
  api.time.offsetMs = 0;
});

test('two calls at once get one offer', async () => {
  const { token } = await createBuyerAccount(api.deps);
  const offers = await Promise.all(Array.from({ length: 8 }, () => api.post('/_svc/licenses', token, wanted())));
  expect(new Set(offers.map(({ body }) => JSON.stringify(body.licence))).size).toBe(1);
  const rows = await api.deps.database.query(
    'select 1 from open_licence_offer join buyer_account using (account_id) join buyer_key using (account_id) where last4 = $1',
    [token.slice(-4)],
  );
  expect(rows).toHaveLength(1);
});

test('a payment header that cannot be read is 402 malformed_payment with an offer, counted once', async () => {
  const { token } = await createBuyerAccount(api.deps);
  const own = await api.site();
  const answer = await api.post('/_svc/licenses', token, wanted({ host: own.host }), { 'x-payment': 'e30=' });
  expect([answer.status, answer.headers.get('x-svc-error-code')]).toEqual([402, 'malformed_payment']);
  expect(answer.headers.has('payment-required')).toBe(true);
  expect(answer.body.error).toMatch(/^malformed_payment: /);
  const rows = await api.deps.database.query('select reason from observation where tenant_id = $1', [own.tenantId]);
  expect(rows).toEqual([{ reason: 'malformed_payment' }]);
});
