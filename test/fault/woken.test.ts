/** Batches that a worker sends because it was told of a payment, beside workflows, other workers and the sweeper. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Listener } from '../../db/listen.ts';
import { listen } from '../../db/listen.ts';
import { ACCEPTED_CHANNEL } from '../../modules/settlement/store/intake.ts';
import type { Flights } from '../../modules/settlement/use/batch/flights.ts';
import { openFlights } from '../../modules/settlement/use/batch/flights.ts';
import type { BatchProposal } from '../../modules/settlement/use/batchQueue.ts';
import { createBatchStarter } from '../../modules/settlement/use/batchQueue.ts';
import { createTakers } from '../../modules/settlement/use/watch/takers.ts';
import { age, attempt, chainCall, cuttable, stateOf, sweep } from '../support/faults.ts';
import { checkInvariants } from '../support/invariants.ts';
import type { SettlementWorld } from '../support/settlement.ts';
import { newAuthors, newPayer, paymentFor, startSettlement, termsFor } from '../support/settlement.ts';

let world: SettlementWorld;
let line: ReturnType<typeof cuttable>;
let started: BatchProposal[];
let open: Flights[];
beforeEach(async () => {
  started = [];
  open = [];
  const wrap = (rpc: Parameters<typeof cuttable>[0]) => (line = cuttable(rpc));
  world = await startSettlement({ automine: true, runBatches: false, waitMs: 50, wrap });
});
afterEach(async () => {
  try {
    await Promise.all(open.map((flights) => flights.close()));
    await checkInvariants(world);
  } finally {
    await world.close();
  }
});

/** A worker of its own; `start` is how it starts workflows. */
function openWorker(start: (proposal: BatchProposal) => Promise<void> = async (proposal) => void started.push(proposal)) {
  const flights = openFlights(world.deps, start);
  open.push(flights);
  return flights;
}

const newPayment = async (slug: string) => {
  const terms = termsFor(world, newAuthors(1n), { slug });
  const payment = await paymentFor(world, await newPayer(world), terms);
  expect((await attempt(world, terms, payment)).code).toBe('settlement_pending');
  return payment;
};
/** One after the other: they share the faucet's nonce. */
const newPayments = async (slugs: readonly string[]) => {
  const payments: Awaited<ReturnType<typeof newPayment>>[] = [];
  for (const slug of slugs) payments.push(await newPayment(slug));
  return payments;
};
const undecided = async () =>
  Number((await world.database.query<{ n: string }>("select count(*) as n from payment where stage = 'under_way'"))[0]?.n);
const settled = (payment: Parameters<typeof stateOf>[1]) =>
  expect.poll(async () => (await stateOf(world, payment))?.state).toBe('settled');

test('a payment is announced once with its network when its row is committed, and one that is held is not', async () => {
  const told: (string | undefined)[] = [];
  const listener: Listener = listen(world.ownerUrl, ACCEPTED_CHANNEL, (payload) => told.push(payload));
  await expect.poll(() => told).toEqual([undefined]);
  const terms = termsFor(world, newAuthors(1n));
  const payer = await newPayer(world);
  const [first, twin] = [await paymentFor(world, payer, terms), await paymentFor(world, payer, terms)];
  await Promise.all([attempt(world, terms, first), attempt(world, termsFor(world, newAuthors(1n), { slug: 'other' }), first)]);
  await attempt(world, terms, twin);
  await newPayment('last');
  await expect.poll(() => told.length).toBeGreaterThan(2);
  expect(told.slice(1)).toEqual([world.network.id, world.network.id]);
  await listener.close();
});

test('four workers that are woken at once send each payment once, and each batch has one workflow', async () => {
  const payments = await newPayments(['a', 'b', 'c']);
  const workers = [1, 2, 3, 4].map(() => openWorker());
  for (const worker of workers) worker.wake(world.network.id);
  for (const payment of payments) await settled(payment);
  const batches = await world.database.query<{ id: string; workflow_id: string }>(
    'select batch_id as id, workflow_id from settlement_batch',
  );
  expect(started.flatMap((batch) => batch.payments)).toHaveLength(3);
  expect(started.map(({ batchId }) => batchId).sort()).toEqual(batches.map(({ id }) => id).sort());
  for (const { id, workflow_id } of batches) expect(workflow_id).toBe(`settle:${world.network.id}:${id}`);
  const [found] = workers.flatMap((worker) => worker.find(started[0]?.batchId ?? '') ?? []);
  expect(await found).toEqual({ undecided: 0, rest: [] });
});

test('while no workflow can be started a batch is sent and confirmed all the same', async () => {
  const payment = await newPayment('alone');
  openWorker(() => Promise.reject(new Error('Temporal is away'))).wake(world.network.id);
  await settled(payment);
});

test('a batch has its workflow soon after it was sent, while its block is on its way and while no node tells of it', async () => {
  await newPayment('slow');
  await chainCall(world, 'evm_setAutomine', false);
  openWorker().wake(world.network.id);
  await expect.poll(() => started.length).toBe(1);
  expect(await undecided()).toBe(1);
  await chainCall(world, 'evm_setAutomine', true);
  await chainCall(world, 'evm_mine');
  await expect.poll(undecided).toBe(0);
  await newPayment('deaf');
  line.cut.before = (method) => method === 'eth_getTransactionReceipt';
  openWorker().wake(world.network.id);
  await expect.poll(() => started.length).toBe(2);
  expect(await undecided()).toBe(1);
  line.cut.before = () => false;
  await age(world);
  await sweep(world, 3);
  expect(await undecided()).toBe(0);
});

test('any number of wakes is one flight at a time: what waits goes in it, together', async () => {
  const payments = await newPayments(['a', 'b', 'c', 'd']);
  const worker = openWorker();
  let flown = 0;
  line.cut.before = (method) => {
    if (method === 'eth_getBalance') flown += 1; // what a flight that has something to send asks once
    return false;
  };
  for (let n = 0; n < 50; n += 1) worker.wake(world.network.id);
  for (const payment of payments) await settled(payment);
  await worker.close();
  expect(started.map((batch) => batch.payments.length)).toEqual([4]);
  expect(flown).toBe(1);
});

test('what a worker leaves when a node fails is with nobody else than before: the sweeper settles it', async () => {
  const payment = await newPayment('left');
  const worker = openWorker();
  line.cut.before = (method) => ['eth_sendRawTransaction', 'eth_getTransactionReceipt'].includes(method);
  worker.wake(world.network.id);
  await expect.poll(() => stateOf(world, payment)).toMatchObject({ state: 'broadcast' });
  await worker.close();
  line.cut.before = () => false;
  await age(world);
  await sweep(world, 3);
  expect(['settled', 'final']).toContain((await stateOf(world, payment))?.state);
});

test('a payment that no worker takes is started as a workflow by the process that took it in; one that is taken is not', async () => {
  const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
  const proposals: BatchProposal[] = [];
  const start = async (proposal: BatchProposal): Promise<void> => void proposals.push(proposal);
  const starter = createBatchStarter({ log, start, takers: createTakers(world.deps) });
  const waiting = () =>
    world.database.query<{ tenantId: string; paymentId: string }>(
      `select tenant_id as "tenantId", payment_id as "paymentId" from payment where state = 'accepted'`,
    );
  const enqueue = (rows: Awaited<ReturnType<typeof waiting>>) => {
    for (const row of rows) starter.enqueue({ ...row, network: world.network.id, payerKind: 'plain' });
  };
  const taken = await newPayment('taken');
  const rows = await waiting();
  openWorker().wake(world.network.id);
  await settled(taken);
  await newPayment('left');
  const left = await waiting();
  enqueue([...rows, ...left]);
  await expect.poll(() => proposals.map(({ payments }) => payments)).toEqual([left]);
  starter.close();
  await sweep(world, 1);
});
