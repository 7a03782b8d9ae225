import { afterAll, beforeAll, expect, test } from 'vitest';
import { createBuyerAccount } from '../../modules/identity/use/accounts/clients.ts';
import { LONGEST_WAIT_MS } from '../../modules/licences/rules/purchaseNews.ts';
import { listUnfollowed } from '../../modules/licences/store/notices.ts';
import { applyEvents } from '../../modules/settlement/store/applyEvents.ts';
import { followPurchase } from '../../modules/storefront/use/licences/followPurchase.ts';
import { startTestApi } from '../support/api.ts';
import type { TestApi } from '../support/buyers.ts';
import { acceptPurchase, settlePurchase } from '../support/buyers.ts';

let api: TestApi;
let host: string;
beforeAll(async () => {
  api = await startTestApi();
  ({ host } = await api.site());
});
afterAll(() => api.stop());

async function newPurchase() {
  const buyer = await createBuyerAccount(api.deps);
  const wanted = { host, scope: ['/articles/*'], terms: ['ai-input'], periodDays: 30, kind: 'read' } as const;
  const { tenantId, paymentId } = await acceptPurchase(api, buyer.accountId, wanted);
  const ref = { tenantId, paymentId };
  const notices = async () => (await api.request('/_svc/accounts/notices', { key: buyer.token })).body.notices;
  const { database } = api.deps;
  const set = (changes: string) => database.query(`update test.payment set ${changes} where payment_id = $1`, [paymentId]);
  const follow = async () => {
    const { bought, isTakenBack, ...status } = await followPurchase(api.deps, ref);
    expect(bought).toEqual({ network: expect.stringMatching(/^eip155:/), host, accountId: buyer.accountId, priceMicro: '3000' });
    return isTakenBack ? { ...status, isTakenBack } : status;
  };
  return { ...buyer, ref, notices, set, follow };
}

test('an account is told of its licence when the payment settles, once, however many look at the same time', async () => {
  const { ref, notices, follow, token } = await newPurchase();
  expect(await follow()).toEqual({ state: 'accepted', isOpen: true });
  expect(await notices()).toEqual([]);
  await settlePurchase(api.deps.database, ref);
  const seen = await Promise.all(Array.from({ length: 8 }, follow));
  expect(seen).toEqual(Array(8).fill({ state: 'settled', isOpen: true }));
  const told = await notices();
  expect(told).toEqual([
    {
      kind: 'licence_granted',
      jti: ref.paymentId,
      host,
      priceMicro: 3_000,
      error: null,
      at: expect.any(Number),
      payer: expect.stringMatching(/^0x[0-9a-f]{40}$/),
      nonce: expect.stringMatching(/^0x[0-9a-f]{64}$/),
    },
  ]);
  expect((await api.post(`/_svc/licenses/${told[0].jti}/access`, token, {})).status).toBe(200);
});

test('a licence that the chain took back is told, and told again when it is granted after all', async () => {
  const { ref, notices, follow } = await newPurchase();
  const { database } = api.deps;
  await settlePurchase(database, ref);
  await follow();
  await applyEvents(database, [{ ...ref, event: { type: 'reorged' } }]);
  expect((await follow()).isOpen).toBe(true);
  expect(await notices()).toHaveLength(1); // it may be mined again
  await applyEvents(database, [{ ...ref, event: { type: 'refused', reason: 'insufficient_funds' } }]);
  const lost = { state: 'failed', isOpen: true, isTakenBack: true };
  expect([await follow(), await follow()]).toEqual([lost, lost]);
  expect((await notices())[0]).toMatchObject({ kind: 'licence_taken_back', jti: ref.paymentId, error: null });
  await settlePurchase(database, ref);
  expect(await follow()).toEqual({ state: 'settled', isOpen: true });
  const kinds = (await notices()).map(({ kind }: { kind: string }) => kind);
  expect(kinds).toEqual(['licence_granted', 'licence_taken_back', 'licence_granted']);
});

test('a purchase is somebody’s to follow from its commit until nothing more comes of it, and nobody else’s while its workflow looks at it', async () => {
  const { ref, follow } = await newPurchase();
  const { database } = api.deps;
  const [{ network }] = (await database.query('select network from open_purchase where payment_id = $1', [ref.paymentId])) as [
    { network: string },
  ];
  const unfollowed = async (olderThanMs: number) => {
    const found = await listUnfollowed(database, network, { olderThanMs, limit: 1_000 });
    return found.filter(({ paymentId }) => paymentId === ref.paymentId);
  };
  expect([await unfollowed(-1_000), await unfollowed(60_000)]).toEqual([[ref], []]);
  await follow();
  const looksAgainWithin = -(LONGEST_WAIT_MS + 60_000);
  expect(await unfollowed(looksAgainWithin)).toEqual([]);
  await database.query('update open_purchase set held_until = now() where payment_id = $1', [ref.paymentId]); // its workflow is lost
  expect(await unfollowed(-1_000)).toEqual([ref]);
  await settlePurchase(database, ref);
  expect((await follow()).isOpen).toBe(true);
  expect(await unfollowed(looksAgainWithin)).toEqual([]);
  await api.deps.database.query("update test.payment set state = 'final' where payment_id = $1", [ref.paymentId]);
  expect(await follow()).toEqual({ state: 'final', isOpen: false });
  expect(await database.query('select from open_purchase where payment_id = $1', [ref.paymentId])).toEqual([]);
});

test('purchases whose workflow is stuck keep no other without one', async () => {
  const { ref } = await newPurchase();
  const others = [await newPurchase(), await newPurchase(), await newPurchase()];
  const { database } = api.deps;
  const [{ network }] = (await database.query('select network from open_purchase where payment_id = $1', [ref.paymentId])) as [
    { network: string },
  ];
  await database.query('update open_purchase set held_until = now() + $2 where payment_id <> all($1)', [
    [ref, ...others.map((other) => other.ref)].map(({ paymentId }) => paymentId),
    '1 hour',
  ]);
  await database.query("update open_purchase set held_until = now() - interval '1 hour' where payment_id = any($1)", [
    others.map((other) => other.ref.paymentId),
  ]);
  const seen = new Set<string>();
  for (let look = 0; look < 200 && !seen.has(ref.paymentId); look += 1)
    for (const { paymentId } of await listUnfollowed(database, network, { olderThanMs: -1_000, limit: 2 })) seen.add(paymentId);
  expect(seen).toContain(ref.paymentId);
});

test('a failure is told when no late evidence can make a licence of it, and not before', async () => {
  const { ref, notices, follow } = await newPurchase();
  const { database } = api.deps;
  await applyEvents(database, [{ ...ref, event: { type: 'refused', reason: 'insufficient_funds' } }]);
  expect(await follow()).toEqual({ state: 'failed', isOpen: true });
  expect(await notices()).toEqual([]);
  await applyEvents(database, [{ ...ref, event: { type: 'unusable' } }]);
  expect([await follow(), await follow()]).toEqual(Array(2).fill({ state: 'failed', isOpen: false }));
  const told = await notices();
  expect(told).toHaveLength(1);
  expect(told[0]).toMatchObject({ kind: 'purchase_failed', jti: null, error: expect.stringMatching(/^insufficient_funds: /) });
});

test('a purchase that failed and was paid after all is told as the licence it became', async () => {
  const { ref, notices, follow } = await newPurchase();
  const { database } = api.deps;
  await applyEvents(database, [{ ...ref, event: { type: 'refused', reason: 'settlement_failed' } }]);
  await follow();
  await settlePurchase(database, ref);
  await follow();
  expect((await notices()).map(({ kind }: { kind: string }) => kind)).toEqual(['licence_granted']);
});

test('an account hears that a person looks, then what came of it; one that another purchase answered is no news', async () => {
  const { ref, notices, follow, set } = await newPurchase();
  await set("state = 'review'");
  expect([await follow(), await follow()]).toEqual(Array(2).fill({ state: 'review', isOpen: true }));
  await applyEvents(api.deps.database, [{ ...ref, event: { type: 'unusable' } }]);
  expect(await follow()).toEqual({ state: 'failed', isOpen: false });
  expect((await notices()).map(({ kind }: { kind: string }) => kind)).toEqual(['purchase_failed', 'purchase_in_review']);
  const answered = await newPurchase();
  await answered.set("state = 'superseded', watched = false");
  expect(await answered.follow()).toEqual({ state: 'superseded', isOpen: false });
  const late = await newPurchase();
  await late.set("state = 'expired', watched = false");
  expect(await late.follow()).toEqual({ state: 'expired', isOpen: false });
  expect([await answered.notices(), (await late.notices())[0].kind]).toEqual([[], 'purchase_expired']);
});

test('an account reads its own notices only, and nobody those of a purchase there is not', async () => {
  const { ref, follow } = await newPurchase();
  await settlePurchase(api.deps.database, ref);
  await follow();
  const other = await createBuyerAccount(api.deps);
  expect((await api.request('/_svc/accounts/notices', { key: other.token })).body).toEqual({ notices: [] });
  expect((await api.request('/_svc/accounts/notices')).status).toBe(401);
  const unknown = { tenantId: ref.tenantId, paymentId: crypto.randomUUID() };
  expect(await followPurchase(api.deps, unknown)).toEqual({ state: 'unknown', isOpen: false, isTakenBack: false, bought: null });
});
