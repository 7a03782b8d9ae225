import { afterAll, beforeAll, expect, test } from 'vitest';
import { createBuyerAccount } from '../../modules/identity/use/accounts/clients.ts';
import { findLicence } from '../../modules/licences/store/licences.ts';
import { findOffer, keepOffer } from '../../modules/licences/store/offers.ts';
import { freezePages } from '../../modules/storefront/use/licences/freeze.ts';
import { openOffer } from '../../modules/storefront/use/licences/offer.ts';
import { importPages } from '../../modules/storefront/use/licences/offering.ts';
import type { LicenceRequest } from '../../modules/storefront/use/licences/request.ts';
import { understandRequest } from '../../modules/storefront/use/licences/request.ts';
import { setPricing } from '../../modules/tenants/use/tenants.ts';
import { startTestApi, WALLETS } from '../support/api.ts';
import type { TestApi } from '../support/buyers.ts';
import { sellLicence } from '../support/buyers.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.stop());

const credits = { contributors: [{ authorId: 'ann', wallet: WALLETS[0] }] };
const pagesOf = (from: number, count: number) =>
  Array.from({ length: count }, (_, n) => ({ slug: `page-${from + n}`, path: `/large/page-number-${from + n}`, credits }));
const wanted = (host: string, changes: Partial<LicenceRequest> = {}): LicenceRequest => ({
  host,
  scope: ['/large/'],
  terms: ['search'],
  periodDays: 1,
  kind: 'read',
  ...changes,
});
const understood = (request: LicenceRequest) => understandRequest(api.deps, request, null);
const frozen = (offerId: string) => api.deps.database.query('select pages from licence_offer where offer_id = $1', [offerId]);

test('sixty offers of 5,000 pages that nobody pays for take no more room than their requests, and go within minutes', async () => {
  const site = await api.site();
  await importPages(api.deps, { tenantId: site.tenantId, pages: pagesOf(0, 5_000) });
  const { token } = await createBuyerAccount(api.deps);
  for (let n = 0; n < 60; n++) {
    const { status } = await api.post('/_svc/licenses', token, wanted(site.host, { periodDays: 1 + n / 1_000 }));
    expect(status).toBe(402);
  }
  const { database } = api.deps;
  const kept = async () => {
    const [row] = await database.query<{ count: string; bytes: string }>(
      `select (select count(*) from open_licence_offer where tenant_id = $1) as count,
         (select coalesce(sum(pg_column_size(open_licence_offer)), 0) from open_licence_offer where tenant_id = $1)
         + (select coalesce(sum(pg_column_size(licence_offer) + pg_column_size(pages)), 0) from licence_offer where tenant_id = $1) as bytes`,
      [site.tenantId],
    );
    return { count: Number(row?.count), bytes: Number(row?.bytes) };
  };
  const before = await kept();
  expect(before.count).toBe(60);
  expect(before.bytes / 60).toBeLessThan(1_500);
  // Ten minutes of life, and six in which a payment that was signed before may come.
  api.time.offsetMs = 961_000;
  for (let n = 0; n < 4; n++) await api.post('/_svc/licenses', token, wanted(site.host, { periodDays: 2 + n }));
  expect((await kept()).count).toBe(4);
  api.time.offsetMs = 0;
});

test('pages are written when a payment is about to get its row, and the licence is over exactly those that were offered', async () => {
  const site = await api.site();
  await importPages(api.deps, { tenantId: site.tenantId, pages: pagesOf(0, 7) });
  const { accountId } = await createBuyerAccount(api.deps);
  const request = await understood(wanted(site.host));
  const offer = await openOffer(api.deps, accountId, request);
  expect([offer.pageCount, await frozen(offer.offerId)]).toEqual([7, []]);
  // Another price and other authors do not touch what was offered.
  await setPricing(api.deps, { tenantId: site.tenantId, pricing: { priceUsdc: '0.005' } });
  const others = { contributors: [{ authorId: 'bob', wallet: WALLETS[1] }] };
  await importPages(api.deps, { tenantId: site.tenantId, pages: pagesOf(0, 2).map((page) => ({ ...page, credits: others })) });
  const later = await understood(wanted(site.host));
  expect((await openOffer(api.deps, accountId, later)).offerId).toBe(offer.offerId);
  const { paymentId } = await sellLicence(api, accountId, wanted(site.host));
  const licence = await findLicence(api.deps.database, { accountId, jti: paymentId });
  expect(licence?.priceMicro).toBe(7_000n);
  expect(licence?.legs).toEqual([{ toAddress: WALLETS[0], amountMicro: 7_000n }]);
  expect(licence?.paths).toEqual(Array.from({ length: 7 }, (_, n) => `/large/page-number-${n}`));
  // Frozen is frozen: another payment for it is over the same pages, whatever is imported.
  await importPages(api.deps, { tenantId: site.tenantId, pages: pagesOf(7, 1) });
  const kept = await findOffer(api.deps.database, offer.offerId);
  expect(kept && (await freezePages(api.deps, kept, await understood(wanted(site.host))))).toBeNull();
  // Nor does a call that found the offer open refuse what another call froze before the change.
  expect(await freezePages(api.deps, offer, await understood(wanted(site.host)))).toBeNull();
});

test('when the pages of a scope change between offer and payment, the payment is refused before anything moves, and the next offer is of now', async () => {
  const site = await api.site();
  await importPages(api.deps, { tenantId: site.tenantId, pages: pagesOf(0, 3) });
  const changes = [
    () => importPages(api.deps, { tenantId: site.tenantId, pages: pagesOf(3, 1) }),
    () => importPages(api.deps, { tenantId: site.tenantId, pages: [{ slug: 'page-0', path: '/large/page-number-00', credits }] }),
    () => importPages(api.deps, { tenantId: site.tenantId, pages: [{ slug: 'page-1', path: '/elsewhere', credits }] }),
  ];
  for (const change of changes) {
    const { accountId } = await createBuyerAccount(api.deps);
    const offer = await openOffer(api.deps, accountId, await understood(wanted(site.host)));
    await change();
    const now = await understood(wanted(site.host));
    const refusal = await freezePages(api.deps, offer, now);
    expect(refusal).toMatchObject({ reason: 'quote_expired', raw: 'licence_pages_changed' });
    expect(await frozen(offer.offerId)).toEqual([]);
    const fresh = await openOffer(api.deps, accountId, now);
    expect(fresh.offerId).not.toBe(offer.offerId);
    expect(await freezePages(api.deps, fresh, now)).toBeNull();
  }
});

test('a site keeps so many open offers: the oldest of the account with most of them gives way, nobody else’s', async () => {
  const site = await api.site();
  const [crowd, single] = [await createBuyerAccount(api.deps), await createBuyerAccount(api.deps)];
  const request = await understood(wanted(site.host, { scope: ['/articles/solo'] }));
  const first = await openOffer(api.deps, single.accountId, request);
  const at = new Date();
  const keep = (n: number) =>
    keepOffer(
      api.deps.database,
      {
        ...first,
        offerId: crypto.randomUUID(),
        accountId: crowd.accountId,
        requestHash: `r${n}`,
        expiresAt: new Date(at.getTime() + 600_000 + n),
      },
      at,
      { ofAccount: 100, ofTenant: 4 },
    );
  for (let n = 0; n < 10; n++) await keep(n);
  const rows = await api.deps.database.query<{ account_id: string; request_hash: string }>(
    'select account_id, request_hash from open_licence_offer where tenant_id = $1 order by expires_at',
    [site.tenantId],
  );
  expect(rows.filter((row) => row.account_id === single.accountId)).toHaveLength(1);
  expect(rows.flatMap((row) => (row.account_id === crowd.accountId ? [row.request_hash] : []))).toEqual(['r7', 'r8', 'r9']);
});
