import { afterEach, beforeEach, expect, test } from 'vitest';
import { applyEvents } from '../../modules/settlement/store/applyEvents.ts';
import type { Payment } from '../../modules/settlement/store/payment.ts';
import type { Batch } from '../../modules/settlement/store/relayer.ts';
import { findBatch, holdBatch, setBatchState } from '../../modules/settlement/store/relayer.ts';
import {
  finaliseBatches,
  listSettledIn,
  listUnfinalAlone,
  listUnfinalBatches,
  provenOf,
} from '../../modules/settlement/store/sweep.ts';
import { lookAtBatch } from '../../modules/settlement/use/batch/batches.ts';
import { openStandings } from '../../modules/settlement/use/batch/report.ts';
import { sweepNetwork } from '../../modules/settlement/use/watch/sweep.ts';
import { finishBatch, watchSettled } from '../../modules/settlement/use/watch/watch.ts';
import { attempt, look, mine, sendAll, stateOf } from '../support/faults.ts';
import { checkInvariants } from '../support/invariants.ts';
import type { SettlementWorld } from '../support/settlement.ts';
import { newAuthors, newPayer, paymentFor, startSettlement, termsFor } from '../support/settlement.ts';

let world: SettlementWorld;
beforeEach(async () => {
  world = await startSettlement({ automine: true, runBatches: false, waitMs: 20 });
  await mine(world, 8);
});
afterEach(async () => {
  try {
    await checkInvariants(world, { isIdle: false });
  } finally {
    await world.close();
  }
});

/** Payments that settled in one batch, and the batch. */
async function settledTogether(count: number) {
  const payments = [];
  for (let n = 0; n < count; n += 1) {
    const terms = termsFor(world, newAuthors(1n), { slug: `page-${n}` });
    const payment = await paymentFor(world, await newPayer(world), terms);
    await attempt(world, terms, payment);
    payments.push(payment);
  }
  const batchId = await sendAll(world);
  await look(world, batchId);
  return { batchId, payments };
}
const told = async (payments: readonly Parameters<typeof stateOf>[1][]) => {
  const rows = await Promise.all(payments.map((payment) => stateOf(world, payment)));
  return rows.map((row) => row?.state);
};
/** What stands in the rows themselves, and which version of them. */
const rows = () =>
  world.database.query<{ state: string; version: string }>(
    'select state, xmin::text as version from payment_state order by payment_id',
  );
const watch = () => watchSettled(world.deps, world.network.id);

test('payments of one batch become final by one row of their batch, none by a row of its own, and are looked at no more', async () => {
  const { batchId, payments } = await settledTogether(4);
  const before = await rows();
  await watch();
  expect(await told(payments)).toEqual(payments.map(() => 'settled'));
  await mine(world, 3);
  await watch();
  expect(await told(payments)).toEqual(payments.map(() => 'final'));
  expect(await rows()).toEqual(before);
  const [batch] = await world.database.query('select final_at is not null as final from settlement_batch where batch_id = $1', [
    batchId,
  ]);
  expect(batch).toEqual({ final: true });
  expect(await listUnfinalBatches(world.database, world.network.id, 10)).toEqual([]);
  expect(await listUnfinalAlone(world.database, world.network.id, 10)).toEqual([]);
});

test('evidence that moved keeps its batch open and no other payment of it: those become final by themselves', async () => {
  const { batchId, payments } = await settledTogether(3);
  const [moved, ...others] = payments;
  if (!moved) throw new Error('no payment');
  await world.database.query('update test.payment set block_number = block_number - 1 where nonce = $1', [
    moved.authorization.nonce,
  ]);
  await mine(world, 3);
  await watch();
  expect(await told([moved, ...others])).toEqual(['settled', 'final', 'final']);
  expect((await rows()).map(({ state }) => state).toSorted()).toEqual(['final', 'final', 'settled']);
  expect(await listUnfinalBatches(world.database, world.network.id, 10)).toEqual([{ batchId, settled: 1 }]);
  await watch();
  expect(await told([moved])).toEqual(['final']);
});

test('what a reorganisation takes out of a final batch settles anew without being final, and becomes so by itself', async () => {
  const { batchId, payments } = await settledTogether(2);
  const before = await listSettledIn(world.database, [batchId]);
  const [one] = before as [Payment];
  await mine(world, 3);
  await watch();
  const transfer = one.facts.evidence;
  if (!transfer) throw new Error('a settled payment has no evidence');
  const { tenantId, paymentId, nonce } = one;
  const first = { authorization: { nonce } } as (typeof payments)[0];
  await applyEvents(world.database, [{ tenantId, paymentId, event: { type: 'reorged', transfer } }]);
  expect(await told([first])).toEqual(['broadcast']);
  expect((await told(payments)).toSorted()).toEqual(['broadcast', 'final']);
  await applyEvents(world.database, [{ tenantId, paymentId, event: { type: 'evidence', transfer } }]);
  expect((await told(payments)).toSorted()).toEqual(['final', 'settled']);
  expect((await listUnfinalAlone(world.database, world.network.id, 10)).map((row) => row.paymentId)).toEqual([paymentId]);
  await watch();
  expect(await told(payments)).toEqual(['final', 'final']);
  expect((await rows()).map(({ state }) => state).toSorted()).toEqual(['final', 'settled']);
});

test('a payment that settles while its batch is made final is not final unseen', async () => {
  const { batchId, payments } = await settledTogether(2);
  const [late, seen] = (await listSettledIn(world.database, [batchId])) as [Payment, Payment];
  const { tenantId, paymentId } = late;
  const transfer = late.facts.evidence;
  if (!transfer) throw new Error('a settled payment has no evidence');
  await applyEvents(world.database, [{ tenantId, paymentId, event: { type: 'reorged', transfer } }]);
  let making: Promise<ReadonlySet<string>> | null = null;
  const beside = {
    ...world.database,
    // As a longer one, which is open after all is written: a short one is committed with it.
    shortTransaction: ((work) =>
      world.database.transaction(async (sql) => {
        const done = await (await work(sql))();
        making = finaliseBatches(world.database, [batchId], [provenOf(seen)]);
        await isWaiting();
        return done;
      })) as typeof world.database.shortTransaction,
  };
  await applyEvents(beside, [{ tenantId, paymentId, event: { type: 'evidence', transfer } }]);
  expect(await making).toEqual(new Set());
  expect(await told(payments)).toEqual(['settled', 'settled']);
});

/** Until a database transaction waits for the lock of another. */
async function isWaiting(): Promise<void> {
  const waits = "select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()";
  await expect.poll(async () => (await world.database.query(waits)).length, { interval: 10 }).toBe(1);
}

test('a batch that its workflow holds is left to it by the sweeper, and is final by its look; one that is not held any more is the sweeper’s', async () => {
  const { batchId, payments } = await settledTogether(2);
  const standings = openStandings(world.deps);
  const held = await standings.of(batchId);
  expect(held).toMatchObject({ outcome: { settled: 2, failed: 0, reverted: 0, undecided: 0 }, open: 0, isOver: false });
  expect(held?.nextInMs).toBeGreaterThanOrEqual(1_000);
  await mine(world, 3);
  await sweepNetwork(world.deps, world.network.id);
  expect(await told(payments)).toEqual(['settled', 'settled']);
  await finishBatch(world.deps, (await findBatch(world.database, batchId)) as Batch);
  expect(await told(payments)).toEqual(['final', 'final']);
  expect(await standings.of(batchId)).toMatchObject({ outcome: { settled: 2 }, isOver: true });
  const late = await settledTogether(1);
  await standings.of(late.batchId);
  await mine(world, 3);
  await world.database.query('update settlement_batch set held_until = now() where final_at is null');
  await sweepNetwork(world.deps, world.network.id);
  expect(await told(late.payments)).toEqual(['final']);
});

test('no look and no start of its workflow cuts short how long a batch is held, and while that is long enough none writes its row', async () => {
  const { batchId } = await settledTogether(1);
  const row = async () => {
    const [found] = await world.database.query<{ until: Date; version: string }>(
      'select held_until as until, xmin::text as version from settlement_batch where batch_id = $1',
      [batchId],
    );
    if (!found) throw new Error('the batch has no row');
    return found;
  };
  const standings = openStandings(world.deps);
  await standings.of(batchId);
  const held = await row();
  expect(held.until.getTime()).toBeGreaterThan(Date.now() + 60_000);
  await finaliseBatches(world.database, [batchId], []);
  await holdBatch(world.database, batchId, 30_000);
  const batch = await standings.hold(batchId);
  expect(batch).toEqual(await findBatch(world.database, batchId));
  await finishBatch(world.deps, batch as Batch); // too early for the safe block
  await standings.of(batchId);
  expect(await row()).toEqual(held);
  await holdBatch(world.database, batchId, 600_000);
  expect((await row()).until.getTime()).toBeGreaterThan(Date.now() + 590_000);
});

test('where no node tells its safe block, batches are looked at in a minute, old ones later; they ask together, and none waits for the answer', async () => {
  const { batchId } = await settledTogether(1);
  let asked = 0;
  const request = () => {
    asked += 1;
    return new Promise<never>(() => undefined);
  };
  const standings = openStandings({ ...world.deps, rpcOf: () => ({ ...world.rpc, request }) });
  const told = await Promise.all([standings.of(batchId), standings.of(batchId)]);
  expect(told.map((standing) => standing?.nextInMs)).toEqual([60_000, 60_000]);
  const once = asked;
  expect(await standings.of(batchId)).toMatchObject({ nextInMs: 60_000 });
  expect([asked, once <= 4]).toEqual([once, true]);
  await world.database.query("update settlement_batch set created_at = created_at - interval '20 minutes'");
  const nextInMs = (await standings.of(batchId))?.nextInMs ?? 0;
  expect(Math.round(nextInMs / 60_000)).toBe(5);
});

test('a look at a batch that is over leaves the time when it ended', async () => {
  const { batchId } = await settledTogether(1);
  await setBatchState(world.database, batchId, 'safe');
  const ended = () => world.database.query("select closed_at, xmin::text as version from settlement_batch where state = 'safe'");
  const before = await ended();
  expect(before).toHaveLength(1);
  await setBatchState(world.database, batchId, 'safe');
  expect(await ended()).toEqual(before);
});

test('a batch whose nonce others used stays over when its workflow looks: its bytes do not go out again', async () => {
  const { batchId } = await settledTogether(1);
  await setBatchState(world.database, batchId, 'safe');
  let asked = 0;
  const request = () => {
    asked += 1;
    return Promise.reject(new Error('nobody is to be asked'));
  };
  const rpcOf = () => ({ ...world.rpc, request });
  await lookAtBatch({ ...world.deps, rpcOf }, (await findBatch(world.database, batchId)) as Batch);
  expect(asked).toBe(0);
});
