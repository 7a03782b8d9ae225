/** An account that pays for one licence with two wallets at once, over two pools, as two processes have them. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Database } from '../../db/database.ts';
import { openDatabase } from '../../db/database.ts';
import type { Budget } from '../../modules/budgets/rules/decide.ts';
import { decideApproval, listApprovals } from '../../modules/budgets/store/approvals.ts';
import { readOpenLedger, writeBudget } from '../../modules/budgets/store/budgets.ts';
import { createBuyerAccount } from '../../modules/identity/use/accounts/clients.ts';
import { findCoveringPurchase } from '../../modules/licences/store/licences.ts';
import { guardLicence } from '../../modules/settlement/rules/guard.ts';
import { applyEvents } from '../../modules/settlement/store/applyEvents.ts';
import { sweepHeld } from '../../modules/settlement/store/held.ts';
import type { IntakeItem, NewPayment } from '../../modules/settlement/store/intake.ts';
import { startTestApi } from '../support/api.ts';
import type { TestApi } from '../support/buyers.ts';
import { acceptPurchase, settlePurchase } from '../support/buyers.ts';

let api: TestApi;
let host: string;
let first: Database;
let second: Database;
beforeAll(async () => {
  api = await startTestApi();
  ({ host } = await api.site());
  first = api.deps.database;
  second = await openDatabase({ url: api.urls.appUrl, poolSize: 4 });
});
afterAll(async () => {
  await second?.close();
  await api?.stop();
});

type Purchase = Awaited<ReturnType<typeof acceptPurchase>>;
const wanted = (periodDays = 30) => ({ host, scope: ['/articles/*'], terms: ['ai-input'], periodDays, kind: 'read' }) as const;
/** As the service asks it. */
const guard =
  (payment: NewPayment): IntakeItem['guard'] =>
  async (siblings, sql) => {
    const { tenantId, licenceOfferId: offerId } = payment;
    return guardLicence(payment, siblings, await findCoveringPurchase(sql, { tenantId, offerId: offerId ?? '' }));
  };
const buy = (accountId: string, database = first, days = 30) => acceptPurchase(api, accountId, wanted(days), { database, guard });
const rowsOf = (purchases: readonly Purchase[]) =>
  Promise.all(
    purchases.map(async ({ paymentId }) => {
      const sql = 'select state, successor_id from payment where payment_id = $1';
      return (await first.query(sql, [paymentId]))[0];
    }),
  );
const waitingForLocks = async () => {
  const sql = "select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()";
  return (await first.query(sql)).length;
};

test('the second wallet of an account waits while the first one’s payment is undecided, and is answered with that when it settles', async () => {
  const { accountId } = await createBuyerAccount(api.deps);
  await buy(accountId, first, 1); // another licence: nobody waits for it
  const leader = await buy(accountId);
  const held = [await buy(accountId, second), await buy(accountId, first)];
  const stranger = await buy((await createBuyerAccount(api.deps)).accountId, second);
  expect(await rowsOf([leader, ...held, stranger])).toMatchObject(
    ['accepted', 'held', 'held', 'accepted'].map((state) => ({ state })),
  );
  const { network } = leader.offer;
  expect([await sweepHeld(second, network, 10), await rowsOf(held)]).toMatchObject([[], [{ state: 'held' }, { state: 'held' }]]);
  await settlePurchase(second, leader);
  const answered = { state: 'superseded', successor_id: leader.paymentId };
  expect(await rowsOf(held)).toEqual([answered, answered]);
  expect(await rowsOf([await buy(accountId, second)])).toEqual([answered]);
});

test('when the first wallet’s payment fails, the next one that waits goes out, and the others wait for it', async () => {
  const { accountId } = await createBuyerAccount(api.deps);
  const [leader, next, last] = [await buy(accountId), await buy(accountId, second), await buy(accountId)];
  await applyEvents(second, [{ ...leader, event: { type: 'refused', reason: 'insufficient_funds' } }]);
  expect(await rowsOf([leader, next, last])).toMatchObject([{ state: 'failed' }, { state: 'accepted' }, { state: 'held' }]);
  await settlePurchase(first, next);
  expect(await rowsOf([last])).toEqual([{ state: 'superseded', successor_id: next.paymentId }]);
});

test('two wallets that come at once, one to each pool: one payment goes out', async () => {
  const { accountId } = await createBuyerAccount(api.deps);
  let both: Promise<Purchase[]> | undefined;
  const owner = await openDatabase({ url: api.urls.ownerUrl, poolSize: 1 });
  await owner.transaction(async (sql) => {
    await sql.query('lock table authorization_claim in share mode');
    both = Promise.all([buy(accountId, first), buy(accountId, second)]);
    await expect.poll(waitingForLocks, { interval: 10 }).toBe(2);
  });
  await owner.close();
  const states = (await rowsOf((await both) ?? [])).map((row) => row?.['state']);
  expect(states.toSorted()).toEqual(['accepted', 'held']);
});

test('a wallet that comes while the other one’s payment is being settled waits for that, and is not left waiting', async () => {
  const { accountId } = await createBuyerAccount(api.deps);
  const leader = await buy(accountId);
  let late: Promise<Purchase> | undefined;
  const deciding: Database = {
    ...first,
    shortTransaction: (work) =>
      first.shortTransaction(async (sql) => {
        const rest = await work(sql);
        late = buy(accountId, second);
        await expect.poll(waitingForLocks, { interval: 10 }).toBe(1);
        return rest;
      }),
  };
  await settlePurchase(deciding, leader);
  expect(await rowsOf(late ? [await late] : [])).toEqual([{ state: 'superseded', successor_id: leader.paymentId }]);
});

test('a licence takes its price out of the account’s budget, not by the limit of a page, and above a price waits for the owner’s yes', async () => {
  const { accountId } = await createBuyerAccount(api.deps);
  const allow = async (changes: Partial<Budget>): Promise<void> => {
    const version = (await readOpenLedger(first, accountId))?.budget?.version ?? 0;
    const limits = { totalMicro: 1_000_000_000n, hostMicro: null, pageMicro: 1n, approveAboveMicro: null, isStopped: false };
    expect(await writeBudget(first, accountId, { period: 'month', ...limits, ...changes }, version)).toBeTypeOf('object');
  };
  const spentMicro = async () => (await readOpenLedger(first, accountId))?.spentMicro.get('');
  const refused = (decision: object) => ({ cause: { kind: 'refused', refusal: { accountId, decision } } });
  await allow({});
  const { priceMicro } = (await buy(accountId)).offer;
  expect(await spentMicro()).toBe(priceMicro);
  await allow({ totalMicro: priceMicro });
  const another = () => buy(accountId, second, 1);
  await expect(another()).rejects.toMatchObject(refused({ kind: 'exceeded', limit: 'total', spentMicro: priceMicro }));
  await allow({ approveAboveMicro: 1n });
  await expect(another()).rejects.toMatchObject(refused({ kind: 'ask_owner', aboveMicro: 1n }));
  const [asked] = await listApprovals(first, accountId, 10);
  expect(await decideApproval(first, { accountId, approvalId: asked?.approvalId ?? '', isApproved: true })).not.toBeNull();
  const { offer } = await another();
  expect(await spentMicro()).toBe(priceMicro + offer.priceMicro);
  await expect(another()).rejects.toMatchObject(refused({ kind: 'ask_owner', aboveMicro: 1n }));
});
