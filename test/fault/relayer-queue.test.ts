import { afterEach, beforeEach, expect, test } from 'vitest';
import { flushSplits } from '../../modules/settlement/use/relayer/flush.ts';
import { watchAuthorizations } from '../../modules/settlement/use/watch/watch.ts';
import { RpcError } from '../../platform/chain/rpc/rpc.ts';
import { baseFeeOf, transactionCount } from '../../platform/chain/transaction.ts';
import {
  age,
  attempt,
  chainCall,
  changed,
  claimAndSend,
  cuttable,
  look,
  mine,
  sendAll,
  stateOf,
  submitAlone,
  sweep,
} from '../support/faults.ts';
import type { Known } from '../support/invariants.ts';
import { checkInvariants } from '../support/invariants.ts';
import type { SettlementWorld } from '../support/settlement.ts';
import { newAuthors, newPayer, paymentFor, startSettlement, termsFor } from '../support/settlement.ts';

let world: SettlementWorld;
let line: ReturnType<typeof cuttable>;
let known: Known;
beforeEach(async () => {
  known = {};
  const wrap = (rpc: Parameters<typeof cuttable>[0]) => (line = cuttable(rpc));
  world = await startSettlement({
    automine: true,
    runBatches: false,
    waitMs: 50,
    wrap,
    network: { maxFeePerGasWei: 1_000_000_000_000n },
  });
});
afterEach(async () => {
  try {
    await checkInvariants(world, known);
  } finally {
    await world.close();
  }
});

const relayer = () => world.deps.relayersOf(world.network.id)[0]?.address ?? '0x';
const newPayment = async (slug: string, ...weights: bigint[]) => {
  const terms = termsFor(world, newAuthors(...(weights.length > 0 ? weights : [1n])), { slug });
  const payment = await paymentFor(world, await newPayer(world), terms);
  expect((await attempt(world, terms, payment)).code).toBe('settlement_pending');
  return payment;
};
const attempts = () =>
  world.database.query<{ nonce: string; attempt: number; kind: string }>(
    'select nonce, attempt, kind from relayer_transaction order by nonce, attempt',
  );
const openBatches = () => world.database.query("select batch_id from settlement_batch where state = 'open'");

test('four processes that claim the same payments at once take one nonce for each, and none twice', async () => {
  const payments = [await newPayment('a'), await newPayment('b', 1n, 2n), await newPayment('c')];
  await Promise.all([sendAll(world), sendAll(world), sendAll(world), sendAll(world)]);
  await sweep(world, 3);
  for (const payment of payments) expect(['settled', 'final']).toContain((await stateOf(world, payment))?.state);
  expect((await attempts()).length).toBeLessThanOrEqual(3);
});

test('of four flights that take off at once, one has the payment, and one nonce is taken', async () => {
  await newPayment('wanted');
  const batches = Array.from({ length: 4 }, () => ({ network: world.network.id, batchId: crypto.randomUUID() }));
  await Promise.allSettled(batches.map((batch) => claimAndSend(world.deps, batch)));
  expect(await attempts()).toEqual([{ nonce: '0', attempt: 1, kind: 'settle' }]);
  for (const { batchId } of batches) await look(world, batchId);
});

test('a nonce used elsewhere seven times over costs no payment its attempts: the count is adopted and all settle', async () => {
  await chainCall(world, 'anvil_setNonce', relayer(), '0x7');
  await mine(world, 3);
  known = { outsideNonces: 7 };
  const payment = await newPayment('moved');
  await sendAll(world);
  await sweep(world, 2);
  await age(world);
  await sweep(world, 3);
  expect(await stateOf(world, payment)).toMatchObject({ state: 'final', attempts: 1 });
  expect(await openBatches()).toEqual([]);
});

test('a batch whose nonce was taken and whose payments are all decided gives its place in flight back', async () => {
  const front = await newPayment('overtaken-front', 2n, 1n);
  await chainCall(world, 'evm_setAutomine', false);
  await sendAll(world);
  await chainCall(world, 'anvil_dropAllTransactions');
  await chainCall(world, 'anvil_setNonce', relayer(), '0x1');
  await chainCall(world, 'evm_setAutomine', true);
  known = { outsideNonces: 1 };
  await submitAlone(world, front);
  await mine(world, 2);
  await age(world);
  await watchAuthorizations(world.deps, world.network.id);
  expect(await stateOf(world, front)).toMatchObject({ state: 'settled' });
  await sweep(world, 3);
  expect(await stateOf(world, front)).toMatchObject({ state: 'final' });
  expect(await openBatches()).toEqual([]);
  await flushSplits(world.deps, world.network.id);
  await sweep(world, 2);
});

test('dropped transactions go out again, lowest nonce first, with the same bytes', async () => {
  const first = await newPayment('dropped-1');
  await chainCall(world, 'evm_setAutomine', false);
  await sendAll(world);
  await chainCall(world, 'anvil_dropAllTransactions');
  await chainCall(world, 'evm_setAutomine', true);
  expect(await transactionCount(world.rpc, relayer(), 'pending')).toBe(0);
  const second = await newPayment('dropped-2');
  const batchId = await sendAll(world);
  await expect.poll(() => transactionCount(world.rpc, relayer(), 'latest')).toBe(2);
  await look(world, batchId);
  await sweep(world, 2);
  for (const payment of [first, second]) expect(['settled', 'final']).toContain((await stateOf(world, payment))?.state);
  expect(await attempts()).toEqual([
    { nonce: '0', attempt: 1, kind: 'settle' },
    { nonce: '1', attempt: 1, kind: 'settle' },
  ]);
});

test('stuck fees are raised to what the block asks in one step, at the same nonce with the same calldata', async () => {
  const payment = await newPayment('stuck', 3n, 1n);
  await chainCall(world, 'evm_setAutomine', false);
  const batchId = await sendAll(world);
  await chainCall(world, 'anvil_setNextBlockBaseFeePerGas', `0x${((await baseFeeOf(world.rpc)) * 20n).toString(16)}`);
  await mine(world);
  const hurried = changed(world, { settings: { ...world.deps.settings, stuckAfterMs: 0 } });
  await look(world, batchId, hurried);
  await mine(world);
  await look(world, batchId, hurried);
  await chainCall(world, 'evm_setAutomine', true);
  expect(await stateOf(world, payment)).toMatchObject({ state: 'settled' });
  expect(await attempts()).toEqual([
    { nonce: '0', attempt: 1, kind: 'settle' },
    { nonce: '0', attempt: 2, kind: 'settle' },
  ]);
});

test('bytes that every node refuses for good are voided at their nonce, and their payments go out under the next', async () => {
  const payments = [await newPayment('refused-1'), await newPayment('refused-2')];
  let refusals = 1;
  line.cut.before = (method) =>
    method === 'eth_sendRawTransaction' && refusals-- > 0 ? new RpcError(-32000, 'exceeds block gas limit', null) : null;
  const batchId = await sendAll(world);
  expect((await attempts()).map((tx) => tx.kind)).toEqual(['settle', 'void']);
  expect(await stateOf(world, payments[0] as never)).toMatchObject({ state: 'broadcast' });
  await mine(world);
  expect(await look(world, batchId)).toMatchObject({ undecided: 0 });
  for (const payment of payments) expect(await stateOf(world, payment)).toMatchObject({ state: 'accepted' });
  // What was refused as a whole goes out in halves.
  for (let round = 0; round < 2; round += 1) await look(world, await sendAll(world));
  for (const payment of payments) expect(await stateOf(world, payment)).toMatchObject({ state: 'settled', attempts: 1 });
  expect(await transactionCount(world.rpc, relayer(), 'latest')).toBe(3);
});

test('a node that takes the bytes and drops the reply changes nothing: the payment is pending, then settled, once', async () => {
  const payment = await newPayment('lost-reply');
  line.cut.after = (method) => method === 'eth_sendRawTransaction';
  const batchId = await sendAll(world);
  line.cut.after = () => false;
  await look(world, batchId);
  expect(await stateOf(world, payment)).toMatchObject({ state: 'settled' });
  expect(await attempts()).toHaveLength(1);
});

test('a relayer without gas money takes no nonce and raises one alert; with money again the payment settles', async () => {
  const payment = await newPayment('broke');
  await chainCall(world, 'anvil_setBalance', relayer(), '0x0');
  for (let round = 0; round < 3; round += 1) await sendAll(world);
  expect(await attempts()).toEqual([]);
  expect(await world.database.query("select 1 as one from operator_alert where kind = 'relayer_balance'")).toHaveLength(1);
  await chainCall(world, 'anvil_setBalance', relayer(), '0x56bc75e2d63100000');
  await age(world);
  await sweep(world, 3);
  expect(await stateOf(world, payment)).toMatchObject({ state: 'final' });
});

test('one batch that cannot be judged keeps the sweeper from no other', async () => {
  const first = await newPayment('unjudged', 1n, 1n);
  await sendAll(world);
  const second = await newPayment('judged');
  await sendAll(world);
  const [hash] = await world.database.query<{ tx_hash: string }>('select tx_hash from relayer_transaction where nonce = 0');
  line.cut.before = (method, [asked]) => method === 'eth_getTransactionReceipt' && asked === hash?.tx_hash;
  await sweep(world);
  line.cut.before = () => null;
  expect(await openBatches()).toHaveLength(1);
  expect(['settled', 'final']).toContain((await stateOf(world, second))?.state);
  await sweep(world, 2);
  expect(await stateOf(world, first)).toMatchObject({ state: 'final' });
});
