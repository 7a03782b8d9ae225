import { encodeFunctionData, parseAbi } from 'viem';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readChain } from '../../modules/reconciliation/use/readChain.ts';
import { holdBatch } from '../../modules/settlement/store/relayer.ts';
import { blockNumbers } from '../../platform/chain/evidence/receipts.ts';
import { listBalances } from '../../platform/chain/evidence/states.ts';
import { transactionCount } from '../../platform/chain/transaction.ts';
import { age, attempt, cancel, chainCall, look, mine, sendAll, spend, stateOf, submitAlone, sweep } from '../support/faults.ts';
import { checkInvariants } from '../support/invariants.ts';
import { addressOf, newWallet } from '../support/payments.ts';
import type { SettlementWorld } from '../support/settlement.ts';
import { newAuthors, newPayer, pay, paymentFor, startSettlement, termsFor } from '../support/settlement.ts';

const tokenAbi = parseAbi(['function transfer(address to, uint256 value) returns (bool)']);

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

const newPayment = async (slug: string, ...weights: bigint[]) => {
  const terms = termsFor(world, newAuthors(...(weights.length > 0 ? weights : [1n])), { slug });
  const payer = await newPayer(world, 10_000n);
  await chainCall(world, 'anvil_setBalance', addressOf(payer), '0xde0b6b3a7640000');
  const payment = await paymentFor(world, payer, terms);
  expect((await attempt(world, terms, payment)).code).toBe('settlement_pending');
  return { terms, payer, payment };
};
const settled = async (slug: string, ...weights: bigint[]) => {
  await mine(world, 2);
  const job = await newPayment(slug, ...weights);
  await mine(world, 3);
  const batchId = await sendAll(world);
  await look(world, batchId);
  expect(await stateOf(world, job.payment)).toMatchObject({ state: 'settled' });
  return { ...job, batchId };
};
const crossings = async (slug: string): Promise<string[]> => {
  const rows = await world.database.query<{ micro: string }>('select micro from crossing where slug = $1 order by sequence', [
    slug,
  ]);
  return rows.map((row) => row.micro);
};

test('a reorg that drops a settled payment sends the same bytes again: one crossing, the same receipt', async () => {
  const { terms, payment } = await settled('dropped', 2n, 1n);
  const receipt = await pay(world, terms, payment);
  await chainCall(world, 'anvil_reorg', 2, []);
  await sweep(world, 2);
  expect(['settled', 'final']).toContain((await stateOf(world, payment))?.state);
  expect(await crossings('dropped')).toEqual(['1000']);
  expect(await pay(world, terms, payment)).toEqual(receipt);
  expect(await transactionCount(world.rpc, world.deps.relayersOf('')[0]?.address ?? '0x', 'latest')).toBe(1);
});

test('a reorg in which the payer cancels takes the sale back: failed, a negative crossing, the observation corrected', async () => {
  const { payer, payment } = await settled('cancelled-by-reorg', 3n, 1n);
  await chainCall(world, 'anvil_reorg', 1, []);
  await chainCall(world, 'anvil_dropAllTransactions');
  await cancel(world, payer, payment.authorization.nonce);
  await sweep(world, 3);
  expect(await stateOf(world, payment)).toMatchObject({ state: 'failed', reason: 'authorization_invalid' });
  expect(await crossings('cancelled-by-reorg')).toEqual(['1000', '-1000']);
});

test('a reorg while the workflow of a batch sleeps is found by the next sweep: the batch is held no longer, and the sale is taken back', async () => {
  const { payer, payment, batchId } = await settled('held-by-its-workflow', 3n, 1n);
  await holdBatch(world.database, batchId, 600_000);
  await chainCall(world, 'anvil_reorg', 1, []);
  await chainCall(world, 'anvil_dropAllTransactions');
  await cancel(world, payer, payment.authorization.nonce);
  await sweep(world, 3);
  expect(await stateOf(world, payment)).toMatchObject({ state: 'failed', reason: 'authorization_invalid' });
  expect(await crossings('held-by-its-workflow')).toEqual(['1000', '-1000']);
});

test('a reorg in which a stranger submits the payment first keeps it settled, by his hash, and sold once', async () => {
  const { payment } = await settled('other-hash');
  await chainCall(world, 'anvil_reorg', 1, []);
  await chainCall(world, 'anvil_dropAllTransactions');
  const hash = await submitAlone(world, payment);
  await sweep(world, 1);
  expect(await stateOf(world, payment)).toMatchObject({ state: 'settled', tx_hash: hash });
  expect(await crossings('other-hash')).toEqual(['1000']);
  await sweep(world, 4);
  expect(await stateOf(world, payment)).toMatchObject({ state: 'final' });
});

test('a sale that its payer submitted before us, answered and then lost to a reorg, is sent by us: the authors are paid once', async () => {
  const { terms, payment } = await newPayment('own-hash');
  await submitAlone(world, payment);
  await age(world);
  await sweep(world, 2);
  expect((await attempt(world, terms, payment)).code).toBe('settled');
  expect(await world.database.query('select 1 from settlement_batch')).toEqual([]);
  await readChain(world.deps, world.network.id);
  const head = Number(await chainCall<string>(world, 'eth_blockNumber'));
  const [found] = await world.database.query<{ block_number: string }>('select block_number from payment_state');
  await chainCall(world, 'anvil_reorg', head - Number(found?.block_number) + 1, []);
  await chainCall(world, 'anvil_dropAllTransactions');
  await readChain(world.deps, world.network.id);
  expect(await stateOf(world, payment)).toMatchObject({ state: 'accepted' });
  await age(world);
  await sendAll(world);
  await mine(world, 3);
  await sweep(world, 4);
  expect(await stateOf(world, payment)).toMatchObject({ state: 'final' });
  expect((await crossings('own-hash')).reduce((sum, micro) => sum + Number(micro), 0)).toBe(1_000);
  const paid = await listBalances(
    world.rpc,
    world.network,
    terms.legs.map(({ toAddress }) => toAddress),
  );
  expect(paid).toEqual(terms.legs.map(({ amountMicro }) => amountMicro));
});

test('a reorg after which the payer is poor is decided from the batch mined again, long before the authorization ends', async () => {
  const { payer, payment } = await settled('poor-by-reorg', 1n, 1n);
  await chainCall(world, 'anvil_reorg', 1, []);
  await chainCall(world, 'anvil_dropAllTransactions');
  await spend(world, addressOf(payer), newWallet(), 9_500n);
  await sweep(world, 4);
  await age(world);
  await sweep(world, 2);
  expect(await stateOf(world, payment)).toMatchObject({ state: 'failed', reason: 'insufficient_funds' });
  expect(await crossings('poor-by-reorg')).toEqual(['1000', '-1000']);
});

test('our transaction mined again behind the payers own in a reorg is judged anew: the sale is taken back at once', async () => {
  const { payer, payment, batchId } = await settled('mined-again', 1n, 2n);
  const [ours] = await world.database.query<{ raw: string }>(
    "select '0x' || encode(raw, 'hex') as raw from relayer_transaction where batch_id = $1",
    [batchId],
  );
  await mine(world);
  const data = encodeFunctionData({ abi: tokenAbi, functionName: 'transfer', args: [newWallet(), 9_500n] });
  const drain = await payer.signTransaction({
    type: 'eip1559',
    chainId: world.network.chainId,
    nonce: 0,
    to: world.network.asset,
    gas: 300_000n,
    data,
    maxFeePerGas: 10n ** 11n,
    maxPriorityFeePerGas: 1n,
  });
  await chainCall(world, 'anvil_reorg', 2, [
    [drain, 0],
    [ours?.raw, 1],
  ]);
  await sweep(world, 3);
  expect(await stateOf(world, payment)).toMatchObject({ state: 'failed', reason: 'insufficient_funds' });
  expect(await crossings('mined-again')).toEqual(['1000', '-1000']);
});

test('a reorg below the safe block takes a final payment back with a correction, and records it anew when it is mined again', async () => {
  const { payment } = await settled('final', 5n, 2n);
  await mine(world, 2);
  await sweep(world, 1);
  expect(await stateOf(world, payment)).toMatchObject({ state: 'final' });
  await readChain(world.deps, world.network.id);
  const { latest } = await blockNumbers(world.rpc);
  await chainCall(world, 'anvil_reorg', Math.min(5, Number(latest) - 1), []);
  await chainCall(world, 'anvil_dropAllTransactions');
  await chainCall(world, 'evm_setAutomine', false);
  await readChain(world.deps, world.network.id);
  expect(await stateOf(world, payment)).toMatchObject({ state: 'broadcast' });
  expect(await crossings('final')).toEqual(['1000', '-1000']);
  const alerts = await world.database.query("select kind from operator_alert where kind = 'payment_reverted'");
  expect(alerts).toHaveLength(1);
  await chainCall(world, 'evm_setAutomine', true);
  await mine(world);
  await sweep(world, 3);
  expect(await stateOf(world, payment)).toMatchObject({ state: 'final' });
  expect(await crossings('final')).toEqual(['1000', '-1000', '1000']);
});

test('a final payment whose evidence moved to a strangers transaction in a deep reorg is corrected and recorded in one round', async () => {
  const { payment } = await settled('final-moved');
  await mine(world, 2);
  await sweep(world, 1);
  await readChain(world.deps, world.network.id);
  await chainCall(world, 'anvil_reorg', 5, []);
  await chainCall(world, 'anvil_dropAllTransactions');
  const other = await submitAlone(world, payment);
  await readChain(world.deps, world.network.id);
  expect(await stateOf(world, payment)).toMatchObject({ state: 'settled', tx_hash: other });
  expect(await crossings('final-moved')).toEqual(['1000', '-1000', '1000']);
});
