import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Terms } from '../../modules/kernel/terms.ts';
import type { ParsedPayment } from '../../modules/kernel/x402/payload.ts';
import { CITATION_GUARD_MS } from '../../modules/settlement/rules/guard.ts';
import { sweepHeld } from '../../modules/settlement/store/held.ts';
import { listBalances } from '../../platform/chain/evidence/states.ts';
import { attempt, chainCall, claimAndSend, look, mine, sendAll, spend, stateOf, submitAlone, sweep } from '../support/faults.ts';
import { checkInvariants } from '../support/invariants.ts';
import { addressOf, newWallet } from '../support/payments.ts';
import type { SettlementWorld } from '../support/settlement.ts';
import { newAuthors, newPayer, pay, paymentFor, startSettlement, termsFor } from '../support/settlement.ts';

let world: SettlementWorld;
beforeEach(async () => {
  world = await startSettlement({ automine: true, runBatches: false, waitMs: 50 });
  await mine(world, 8);
});
afterEach(async () => {
  try {
    await checkInvariants(world, { isIdle: false });
  } finally {
    await world.close();
  }
});

interface Row extends Record<string, unknown> {
  readonly tenant_id: string;
  readonly payment_id: string;
  readonly successor_id: string | null;
  readonly decided_at: Date | null;
  readonly settled_at: Date | null;
}

const rowOf = async (payment: ParsedPayment): Promise<Row> => {
  const [row] = await world.database.query<Row>('select * from payment where nonce = $1', [payment.authorization.nonce]);
  return row as Row;
};
const citation = () => termsFor(world, newAuthors(1n), { kind: 'citation' });
/** Stores a payment that waits for its batch, sends it, and looks at it. */
const settle = async (terms: Terms, payment: ParsedPayment): Promise<Row> => {
  expect((await attempt(world, terms, payment)).code).toBe('settlement_pending');
  await mine(world, 3);
  await look(world, await sendAll(world));
  expect(await stateOf(world, payment)).toMatchObject({ state: 'settled' });
  return rowOf(payment);
};
/** Makes it final by itself: with its batch its own row is not written at all. */
const finish = async (payment: ParsedPayment): Promise<Row> => {
  await world.database.query(
    `update payment_state as s set own_finality = true from payment_intake as i
      where i.nonce = $1 and s.tenant_id = i.tenant_id and s.payment_id = i.payment_id`,
    [payment.authorization.nonce],
  );
  await mine(world, 8);
  await sweep(world);
  expect(await stateOf(world, payment)).toMatchObject({ state: 'final' });
  return rowOf(payment);
};
/** The world with the clock of callers at a moment. */
const at = (ms: number): SettlementWorld => ({ ...world, settleDeps: { ...world.settleDeps, now: () => ms } });
/** What a crash between a release and its batch, or a guard that saw less, would leave. */
const hold = (payment: ParsedPayment) =>
  world.database.query("update test.payment set state = 'held', successor_id = null where nonce = $1", [
    payment.authorization.nonce,
  ]);

test('finality does not begin the ten seconds of a citation again: a second citation after them is a sale and is charged', async () => {
  const terms = citation();
  const payer = await newPayer(world);
  const first = await paymentFor(world, payer, terms);
  const { settled_at: settledAt, decided_at: decidedAt } = await settle(terms, first);
  expect(decidedAt).toEqual(settledAt);
  const final = await finish(first);
  expect(final).toMatchObject({ decided_at: decidedAt, settled_at: settledAt });
  const afterwards = at((settledAt?.getTime() ?? 0) + CITATION_GUARD_MS);
  const second = await paymentFor(world, payer, terms);
  expect((await attempt(afterwards, terms, second)).code).toBe('settlement_pending');
  await look(world, await sendAll(world));
  expect(await stateOf(world, second)).toMatchObject({ state: 'settled' });
  expect(await listBalances(world.rpc, world.network, [terms.payTo])).toEqual([2n * terms.priceMicro]);
});

test('a settlement that a reorg takes back and that comes again does not begin the ten seconds of a citation again', async () => {
  const terms = citation();
  const payer = await newPayer(world);
  const first = await paymentFor(world, payer, terms);
  const { settled_at: settledAt } = await settle(terms, first);
  await chainCall(world, 'anvil_reorg', 2, []);
  await chainCall(world, 'anvil_dropAllTransactions');
  await chainCall(world, 'evm_setAutomine', false);
  await sweep(world);
  expect(await stateOf(world, first)).toMatchObject({ state: 'broadcast' });
  expect(await rowOf(first)).toMatchObject({ decided_at: null, settled_at: settledAt });
  await chainCall(world, 'evm_setAutomine', true);
  await sweep(world, 2);
  const again = await rowOf(first);
  expect(again.settled_at).toEqual(settledAt);
  expect(again.decided_at?.getTime()).toBeGreaterThan(settledAt?.getTime() ?? 0);
  const second = await paymentFor(world, payer, terms);
  await attempt(at((settledAt?.getTime() ?? 0) + CITATION_GUARD_MS), terms, second);
  expect(await stateOf(world, second)).toMatchObject({ state: 'accepted' });
});

test('a failure that late evidence turns into a sale is decided when it settles', async () => {
  const terms = citation();
  const payer = await newPayer(world, 1_010n);
  const payment = await paymentFor(world, payer, terms);
  await attempt(world, terms, payment);
  await spend(world, addressOf(payer), newWallet(), 1_000n);
  await sendAll(world);
  const failed = await rowOf(payment);
  expect(failed).toMatchObject({ state: 'failed', settled_at: null });
  await world.fund(addressOf(payer), 5_000n);
  await submitAlone(world, payment);
  await sweep(world);
  const late = await rowOf(payment);
  expect(late.state).toBe('settled');
  expect(late.decided_at).toEqual(late.settled_at);
  expect(late.decided_at?.getTime()).toBeGreaterThan(failed.decided_at?.getTime() ?? 0);
});

test('a held payment is not answered with a sale that settled before it was accepted, final or not: it goes out itself', async () => {
  const terms = citation();
  const payer = await newPayer(world);
  const sale = await paymentFor(world, payer, terms);
  const { settled_at: settledAt } = await settle(terms, sale);
  const later = await paymentFor(world, payer, terms);
  await attempt(at((settledAt?.getTime() ?? 0) + CITATION_GUARD_MS), terms, later);
  await hold(later);
  await mine(world, 8);
  await sweep(world);
  expect(await stateOf(world, sale)).toMatchObject({ state: 'final' });
  expect(await stateOf(world, later)).toMatchObject({ state: 'settled' });
  expect(await listBalances(world.rpc, world.network, [terms.payTo])).toEqual([2n * terms.priceMicro]);
});

test('a held payment is answered with the sale that settled while it waited, by the sweeper as by the settlement itself', async () => {
  const terms = citation();
  const payer = await newPayer(world);
  const [leader, waiting] = [await paymentFor(world, payer, terms), await paymentFor(world, payer, terms)];
  await attempt(world, terms, leader);
  await attempt(world, terms, waiting);
  expect(await stateOf(world, waiting)).toMatchObject({ state: 'held' });
  await mine(world, 3);
  await look(world, await sendAll(world));
  const { payment_id: successor } = await rowOf(leader);
  expect(await rowOf(waiting)).toMatchObject({ state: 'superseded', successor_id: successor });
  await hold(waiting);
  expect(await sweepHeld(world.database, world.network.id, 10)).toEqual([]);
  expect(await rowOf(waiting)).toMatchObject({ state: 'superseded', successor_id: successor });
});

test('a sale of a test key neither answers nor holds up a live one of the same payer for the same page', async () => {
  const terms = termsFor(world, newAuthors(1n), { slug: 'live-beside-mock' });
  const payer = await newPayer(world);
  await pay(world, terms, await paymentFor(world, payer, terms), { mode: 'mock' });
  const live = await paymentFor(world, payer, terms);
  await settle(terms, live);
  expect(await listBalances(world.rpc, world.network, [terms.payTo])).toEqual([terms.priceMicro]);
});

test('a payment of a test key that waits is not sent, and no money moves', async () => {
  const terms = termsFor(world, newAuthors(1n), { slug: 'mock-proposed', priceMicro: 1_004n });
  const payment = await paymentFor(world, await newPayer(world), terms);
  await pay(world, terms, payment, { mode: 'mock' }).catch(() => undefined);
  const batch = { network: world.network.id, batchId: crypto.randomUUID() };
  expect(await claimAndSend(world.deps, batch)).toMatchObject({ kind: 'idle' });
  expect(await stateOf(world, payment)).toMatchObject({ state: 'accepted', tx_hash: null });
  expect(await listBalances(world.rpc, world.network, [terms.payTo])).toEqual([0n]);
});
