/** Batches that a worker sends because it was told of a payment, beside workflows, other workers and the sweeper. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createSettlementActivities } from '../../activities/settlement.ts';
import type { Listener } from '../../db/listen.ts';
import { listen } from '../../db/listen.ts';
import type { ClaimedBatch } from '../../modules/settlement/rules/batchOutcome.ts';
import { ACCEPTED_CHANNEL } from '../../modules/settlement/store/announce.ts';
import type { Flights } from '../../modules/settlement/use/batch/flights.ts';
import { openFlights } from '../../modules/settlement/use/batch/flights.ts';
import type { SettlementDeps, StartBatch } from '../../modules/settlement/use/deps.ts';
import { confirmCarried } from '../../modules/settlement/use/rails/rails.ts';
import { voidHeldBatch } from '../../modules/settlement/use/relayer/broadcast.ts';
import { createBatchStart } from '../../modules/settlement/use/startWorkflows.ts';
import { sweepAndAdopt } from '../../modules/settlement/use/watch/sweep.ts';
import { Networks } from '../../platform/chain/network.ts';
import { openWorkflowBundle } from '../../process/workflowBundle.ts';
import { age, attempt, chainCall, cuttable, mine, stateOf, sweep } from '../support/faults.ts';
import { checkInvariants } from '../support/invariants.ts';
import { useTemporal } from '../support/parts.ts';
import type { SettlementWorld } from '../support/settlement.ts';
import { newAuthors, newPayer, paymentFor, startSettlement, termsFor } from '../support/settlement.ts';

let world: SettlementWorld;
let line: ReturnType<typeof cuttable>;
let started: ClaimedBatch[];
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
function openWorker(start: StartBatch = async (batch) => started.push(batch) > 0, changes: Partial<SettlementDeps> = {}) {
  const flights = openFlights({ ...world.deps, ...changes }, start);
  open.push(flights);
  return flights;
}
const away: StartBatch = () => Promise.reject(new Error('Temporal is away'));

const newPayment = async (slug: string) => {
  const terms = termsFor(world, newAuthors(1n), { slug });
  const payment = await paymentFor(world, await newPayer(world), terms);
  expect((await attempt(world, terms, payment)).code).toBe('settlement_pending');
  return payment;
};
/** Lets the time pass for which a claim holds its batch. */
const letClaimEnd = () => world.database.query("update settlement_batch set held_until = now() - interval '1 second'");
/** Beside a worker of the world that takes up what Temporal gives it, and sends nothing. */
async function onTemporal(work: (client: Client, taskQueue: string) => Promise<void>): Promise<void> {
  Runtime.install({ logger: new DefaultLogger('ERROR') });
  const { address, namespace, taskQueue } = useTemporal();
  const connection = await Connection.connect({ address });
  const native = await NativeConnection.connect({ address });
  const client = new Client({ connection, namespace });
  const worker = await Worker.create({
    connection: native,
    namespace,
    taskQueue,
    workflowBundle: await openWorkflowBundle(false),
    activities: createSettlementActivities(world.deps, openWorker(), createBatchStart(client, taskQueue)),
  });
  try {
    await worker.runUntil(work(client, taskQueue));
  } finally {
    await Promise.all([connection.close(), native.close()]);
  }
}
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
  expect(await found).toMatchObject({ undecided: 0 });
});

test('while no workflow can be started a batch is sent and confirmed all the same', async () => {
  const payment = await newPayment('alone');
  openWorker(away).wake(world.network.id);
  await settled(payment);
});

test('a mined batch that waits for later blocks and has no workflow is looked at after pauses that grow, by its process alone', async () => {
  const networks = new Networks([{ ...world.network, confirmations: [{ belowMicro: null, blocks: 3 }] }]);
  const payment = await newPayment('deep');
  let looks = 0;
  line.cut.before = (method) => {
    if (method === 'eth_getTransactionReceipt') looks += 1;
    return false;
  };
  openWorker(away, { networks }).wake(world.network.id);
  await expect.poll(() => looks).toBeGreaterThan(1);
  looks = 0;
  await sleep(5_000);
  expect(looks).toBeLessThan(8); // 0.1, 0.2, 0.4, 0.8, 1.6, 3.2 seconds apart; every 250 ms they were 20
  const [batch] = await world.database.query<{ id: string }>('select batch_id as id from settlement_batch');
  const deps = { ...world.deps, networks };
  expect(await confirmCarried(deps, batch?.id ?? '', { timeoutMs: 1_000 })).toEqual({ undecided: 1, isMined: true });
  await mine(world, 3);
  await settled(payment);
});

test('a claimed batch whose sending fails is settled by its process all the same while Temporal is away', async () => {
  const payment = await newPayment('unfinished');
  const crashAt: SettlementDeps['crashAt'] = (point) => {
    if (point === 'after_broadcast') throw new Error('the connection is gone');
  };
  openWorker(away, { crashAt }).wake(world.network.id);
  await settled(payment);
  expect(await world.database.query('select 1 from settlement_batch')).toHaveLength(1);
});

test('a batch has its workflow as soon as it is claimed, before its bytes leave, and while no node tells of it', async () => {
  await newPayment('unsent');
  const startedWhenSent: number[] = [];
  line.cut.before = (method) => {
    if (method === 'eth_sendRawTransaction') startedWhenSent.push(started.length);
    return method === 'eth_sendRawTransaction';
  };
  openWorker().wake(world.network.id);
  await expect.poll(() => started.length).toBe(1);
  await expect.poll(() => startedWhenSent[0]).toBe(1);
  expect(await undecided()).toBe(1);
  line.cut.before = (method) => method === 'eth_getTransactionReceipt';
  await newPayment('deaf');
  openWorker().wake(world.network.id);
  await expect.poll(() => started.length).toBe(2);
  expect(await undecided()).toBe(2);
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

/** A worker that listens, as a process does; resolves once it hears. */
async function listening(flights: Flights): Promise<Listener> {
  const connected = Promise.withResolvers<void>();
  const listener = listen(world.ownerUrl, ACCEPTED_CHANNEL, (payload) => {
    if (payload === undefined) connected.resolve();
    else flights.wake(payload);
  });
  await connected.promise;
  return listener;
}

test('a payment that no worker took is sent by the worker that sweeps, which hears no notification, and has no workflow before it is claimed', async () => {
  const payment = await newPayment('left');
  const flights = openWorker();
  const { findUntaken } = createSettlementActivities(world.deps, flights, async () => true);
  const look = () => findUntaken({ network: world.network.id });
  expect(await look()).toMatchObject({ isUntaken: false }); // it is too young to be left
  expect(await stateOf(world, payment)).toMatchObject({ state: 'accepted' });
  expect(started).toEqual([]);
  await age(world);
  expect(await look()).toMatchObject({ isUntaken: true });
  await settled(payment);
  expect(started.map(({ payments, sent }) => [payments.length, sent.txHash])).toEqual([[1, expect.stringMatching(/^0x/)]]);
});

test('a workflow whose batch has no row fails and says so, and is not tried again', async () => {
  const { confirmSettlement, finishSettlement } = createSettlementActivities(world.deps, openWorker(), async () => true);
  const batchId = randomUUID();
  const failure = { type: 'BatchMissing', nonRetryable: true, message: `the ledger has no batch ${batchId}` };
  for (const look of [confirmSettlement, finishSettlement]) await expect(look({ batchId })).rejects.toMatchObject(failure);
});

test('what a batch carried in vain goes out again by the announcement of the decision, without a sweep', async () => {
  const worker = await listening(openWorker(away));
  const terms = termsFor(world, newAuthors(1n), { slug: 'again' });
  const payment = await paymentFor(world, await newPayer(world), terms);
  await chainCall(world, 'evm_setAutomine', false);
  await attempt(world, terms, payment);
  await expect.poll(() => stateOf(world, payment)).toMatchObject({ state: 'broadcast' });
  const [batch] = await world.database.query<{ batch_id: string }>('select batch_id from settlement_batch');
  expect(await voidHeldBatch(world.deps, world.network, world.rpc, batch?.batch_id ?? '')).toBe(true);
  await chainCall(world, 'evm_setAutomine', true);
  await chainCall(world, 'evm_mine');
  await settled(payment);
  expect(await stateOf(world, payment)).toMatchObject({ attempts: 1 });
  await worker.close();
});

test('a flight that finds every node away is repeated until one answers, without another announcement', async () => {
  const payment = await newPayment('patient');
  let cuts = 0;
  line.cut.before = () => {
    cuts += 1;
    return true;
  };
  openWorker().wake(world.network.id);
  await expect.poll(() => cuts).toBeGreaterThan(2);
  expect(await stateOf(world, payment)).toMatchObject({ state: 'accepted' });
  line.cut.before = () => false;
  await settled(payment);
});

test('however many notifications come while every node is away, a network is tried again by one timer', async () => {
  const payment = await newPayment('patient');
  let failed = 0;
  const warn = (_fields: object, message: string): void => {
    if (message.startsWith('nothing could be sent')) failed += 1;
  };
  line.cut.before = () => true;
  const worker = openWorker(undefined, { log: { ...world.deps.log, warn } });
  for (let told = 1; told <= 20; told += 1) {
    worker.wake(world.network.id);
    await expect.poll(() => failed, { interval: 5 }).toBeGreaterThanOrEqual(told);
  }
  const before = failed;
  await sleep(6_000);
  expect(failed - before).toBeLessThan(8); // 0.25, 0.5, 1, 2, 4 seconds apart; a timer a notification made twenty
  line.cut.before = () => false;
  await settled(payment);
});

test('a batch that lost its workflow has it again a few seconds later, with what it carries; one that is held is left alone', async () => {
  const payment = await newPayment('orphan');
  openWorker(away).wake(world.network.id);
  await settled(payment);
  const adopted: ClaimedBatch[] = [];
  const adopt = () => sweepAndAdopt(world.deps, world.network.id, async (batch) => adopted.push(batch) > 0);
  expect(await adopt()).toBe(0); // its claim holds it: its own process may be about to start it
  await letClaimEnd();
  expect(await adopt()).toBe(1); // the look at it, right before, does not put that off
  const [held] = await world.database.query<{ ms: number }>(
    'select (extract(epoch from held_until - now()) * 1000)::double precision as ms from settlement_batch',
  );
  expect(held?.ms).toBeLessThanOrEqual(30_000); // if that workflow is stuck too, the sweeper is back by then
  expect(await adopt()).toBe(0);
  const [row] = await world.database.query<{ batch_id: string; payment_id: string; tx_hash: string; nonce: string }>(
    'select batch_id, payment_id, tx_hash, b.nonce from settlement_batch as b join payment using (batch_id)',
  );
  const payments = [{ tenantId: world.tenantId, paymentId: row?.payment_id }];
  const sent = { txHash: row?.tx_hash, nonce: row?.nonce };
  expect(adopted).toEqual([{ network: world.network.id, batchId: row?.batch_id, payments, sent }]);
});

test('a batch whose workflow cannot be started keeps no other without one, and is tried again; one that runs already counts for nothing', async () => {
  const worker = openWorker(away);
  for (const slug of ['a', 'b', 'c']) {
    const payment = await newPayment(slug);
    worker.wake(world.network.id);
    await settled(payment);
  }
  await worker.close();
  await letClaimEnd();
  line.cut.before = () => true; // none of them is over
  const asked: string[] = [];
  const adopt = (start: StartBatch) => sweepAndAdopt(world.deps, world.network.id, start);
  const once: StartBatch = async (batch, options) => {
    asked.push(batch.batchId);
    return asked.length === 1 ? away(batch, options) : asked.length === 2;
  };
  expect(await adopt(once)).toBe(1);
  expect(new Set(asked).size).toBe(3);
  const [first] = asked;
  expect(await adopt(once)).toBe(0);
  expect(asked.slice(3)).toEqual([first]);
  line.cut.before = () => false;
});

test('a batch whose process died before it started a workflow has one that is Completed, though the sweep that finds it ends it', async () => {
  const payment = await newPayment('orphan');
  const crashAt: SettlementDeps['crashAt'] = (point) => {
    if (point === 'after_sign') throw new Error('the process dies');
  };
  const dead = openWorker(away, { crashAt });
  dead.wake(world.network.id);
  await expect.poll(() => stateOf(world, payment)).toMatchObject({ state: 'broadcast' });
  await dead.close();
  await world.database.query("update settlement_batch set held_until = now() + interval '1 hour'");
  await sweep(world, 3); // sends and settles it, like all that is unmined; while it is held it is not final
  expect(await stateOf(world, payment)).toMatchObject({ state: 'settled' });
  await letClaimEnd();

  await onTemporal(async (client, taskQueue) => {
    const { id: network } = world.network;
    const swept = { taskQueue, workflowId: `sweep:${randomUUID()}`, args: [{ network, intervalMs: 1_000, looks: 1 }] };
    expect(await client.workflow.execute('sweepPayments', swept)).toMatchObject({ batches: 1 });
    expect(await stateOf(world, payment)).toMatchObject({ state: 'final' });
    const [batch] = await world.database.query<{ workflow_id: string }>('select workflow_id from settlement_batch');
    const handle = client.workflow.getHandle(batch?.workflow_id ?? '');
    expect(await handle.result()).toMatchObject({ settled: 1, failed: 0, reverted: 0, undecided: 0 });
    expect((await handle.describe()).status.name).toBe('COMPLETED');
    const again = { ...swept, workflowId: `sweep:${randomUUID()}` };
    expect(await client.workflow.execute('sweepPayments', again)).toMatchObject({ batches: 0 });
  });
});
