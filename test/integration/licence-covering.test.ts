import { afterAll, beforeAll, expect, test } from 'vitest';
import { createBuyerAccount } from '../../modules/identity/use/accounts/clients.ts';
import { findCoveringPurchase } from '../../modules/licences/store/licences.ts';
import { findFittingOffer, keepOffer } from '../../modules/licences/store/offers.ts';
import { revokeLicence } from '../../modules/licences/use/revoke.ts';
import type { LicenceRequest } from '../../modules/storefront/use/licences/request.ts';
import { startTestApi } from '../support/api.ts';
import type { TestApi } from '../support/buyers.ts';
import { openFrozenOffer, sellLicence } from '../support/buyers.ts';
import { newWallet } from '../support/payments.ts';

let api: TestApi;
let host: string;
beforeAll(async () => {
  api = await startTestApi();
  ({ host } = await api.site());
});
afterAll(() => api.stop());

const wanted = (changes: Partial<LicenceRequest> = {}): LicenceRequest => ({
  host,
  scope: ['/articles/*'],
  terms: ['ai-input', 'search'],
  periodDays: 30,
  kind: 'read',
  ...changes,
});
const offerFor = (accountId: string, changes: Partial<LicenceRequest> = {}) => openFrozenOffer(api, accountId, wanted(changes));

test('a held licence answers a purchase only when it covers pages, terms, kind, holder and the whole period', async () => {
  api.time.stoppedAtMs = Date.now(); // a period of as many days that begins a second later is not covered
  const { accountId } = await createBuyerAccount(api.deps);
  const holder = newWallet();
  const { paymentId, tenantId } = await sellLicence(api, accountId, wanted());
  const coveredBy = async (changes: Partial<LicenceRequest>, account = accountId) =>
    findCoveringPurchase(api.deps.database, await offerFor(account, changes));
  for (const within of [{ periodDays: 29 }, { periodDays: 1 / 24 }, { scope: ['/articles/solo$'] }, { terms: ['search'] }]) {
    expect(await coveredBy(within), JSON.stringify(within)).toBe(paymentId);
  }
  const inTenDays = Date.now() + 10 * 86_400_000;
  for (const beyond of [
    { periodDays: 31 },
    { periodDays: 366 },
    { periodDays: 25, startsAt: inTenDays },
    { kind: 'citation' as const },
    { terms: ['ai-index'] },
    { holder },
  ]) {
    expect(await coveredBy(beyond), JSON.stringify(beyond)).toBeNull();
  }
  const other = await createBuyerAccount(api.deps);
  expect(await coveredBy({ periodDays: 28 }, other.accountId)).toBeNull();
  await revokeLicence(api.deps, { tenantId, jti: paymentId });
  expect(await coveredBy({ periodDays: 27 })).toBeNull();
  api.time.stoppedAtMs = null;
});

test('an hour’s licence answers no purchase of a year, and one that has not begun none of today', async () => {
  const { accountId } = await createBuyerAccount(api.deps);
  await sellLicence(api, accountId, wanted({ periodDays: 1 / 24 }));
  await sellLicence(api, accountId, wanted({ periodDays: 366, startsAt: Date.now() + 3_600_000 }));
  const year = await offerFor(accountId, { periodDays: 365 });
  expect(await findCoveringPurchase(api.deps.database, year)).toBeNull();
});

test('of several offers a payment is for the one whose price and recipient it meets exactly, or for none', async () => {
  const { accountId } = await createBuyerAccount(api.deps);
  const first = await offerFor(accountId, { scope: ['/articles/solo$'] });
  const { requestHash, payTo } = first;
  const [other, at] = [newWallet(), Date.now()];
  const later = async (minutes: number, changes: { payTo?: typeof payTo; priceMicro?: bigint }) => {
    const offer = { ...first, ...changes, offerId: crypto.randomUUID() };
    const legs = offer.legs.map((leg) => ({ ...leg, amountMicro: offer.priceMicro }));
    const madeAt = new Date(at + minutes * 660_000);
    const kept = { ...offer, legs, expiresAt: new Date(madeAt.getTime() + 600_000) };
    await keepOffer(api.deps.database, kept, madeAt, { ofAccount: 100, ofTenant: 100 });
    return kept;
  };
  const dearer = await later(1, { priceMicro: 2_000n });
  const elsewhere = await later(2, { priceMicro: 2_000n, payTo: other });
  const dearest = await later(3, { priceMicro: 3_000n });
  const fitting = async (to: string, value: bigint) =>
    (
      await findFittingOffer(
        api.deps.database,
        { accountId, requestHash, priceMicro: value },
        (offer) => offer.payTo === to,
        new Date(at),
      )
    )?.offerId ?? null;
  expect(await fitting(payTo, 1_000n)).toBe(first.offerId);
  expect(await fitting(payTo, 2_000n)).toBe(dearer.offerId);
  expect(await fitting(other, 2_000n)).toBe(elsewhere.offerId);
  expect(await fitting(payTo, 3_000n)).toBe(dearest.offerId);
  for (const value of [999n, 1_001n, 2_999n, 3_001n]) expect(await fitting(payTo, value), String(value)).toBeNull();
  expect([await fitting(other, 1_000n), await fitting(newWallet(), 3_000n)]).toEqual([null, null]);
});
