/** Payers whose money is gone in our block, keys that turn out to have code, and a node that counts wrongly while a batch is unmined. */
import { randomUUID } from 'node:crypto';
import { encodeFunctionData, parseAbi } from 'viem';
import { afterEach, expect, test } from 'vitest';
import { PLAIN_SENT_LIMIT, STRIKE_LIMIT } from '../../modules/settlement/rules/payerLimits.ts';
import { sweepNetwork } from '../../modules/settlement/use/watch/sweep.ts';
import type { Rpc } from '../../platform/chain/rpc/rpc.ts';
import { attempt, chainCall, look, mine, sendAll, stateOf } from '../support/faults.ts';
import { checkInvariants } from '../support/invariants.ts';
import { addressOf, newAccount, newWallet } from '../support/payments.ts';
import type { SettlementWorld } from '../support/settlement.ts';
import { newAuthors, newPayer, paymentFor, startSettlement, termsFor } from '../support/settlement.ts';

const tokenAbi = parseAbi(['function transfer(address to, uint256 value) returns (bool)']);
/** Accepts every signature. */
const YES_CODE = '0x631626ba7e60e01b60005260206000f3';

let world: SettlementWorld;
afterEach(async () => {
  try {
    await checkInvariants(world);
  } finally {
    await world.close();
  }
});
const start = async (wrap?: (rpc: Rpc) => Rpc): Promise<void> => {
  world = await startSettlement({ automine: true, runBatches: false, waitMs: 10, ...(wrap && { wrap }) });
  await mine(world, 5);
};

/** The payer's money goes elsewhere, by a transaction that a block takes before ours. */
async function leaveFirst(payer: string, value: bigint): Promise<void> {
  await chainCall(world, 'anvil_setBalance', payer, '0xde0b6b3a7640000');
  await chainCall(world, 'anvil_impersonateAccount', payer);
  const data = encodeFunctionData({ abi: tokenAbi, functionName: 'transfer', args: [newWallet(), value] });
  const fees = { gas: '0x30d40', maxFeePerGas: '0x174876e800', maxPriorityFeePerGas: '0xba43b7400' };
  await chainCall(world, 'eth_sendTransaction', { from: payer, to: world.network.asset, data, ...fees });
  await chainCall(world, 'anvil_stopImpersonatingAccount', payer);
}

const strikesOf = async (payer: string): Promise<number> => {
  const rows = await world.database.query<{ strikes: number }>('select strikes from payer_strike where payer = $1', [payer]);
  return Number(rows[0]?.strikes ?? 0);
};
const gasSpent = async (): Promise<number> => {
  let gas = 0;
  for (const { tx_hash } of await world.database.query<{ tx_hash: string }>('select tx_hash from relayer_transaction')) {
    const receipt = await chainCall<{ gasUsed: string } | null>(world, 'eth_getTransactionReceipt', tx_hash);
    gas += Number(receipt?.gasUsed ?? 0);
  }
  return gas;
};

test('a key whose money leaves in our block burns the gas of no more than thirty-two items, and is refused from then on', async () => {
  await start();
  const payer = await newPayer(world, 100_000n);
  const me = addressOf(payer);
  const authors = newAuthors(1n);
  for (let page = 0; page < 100; page += 1) {
    const terms = termsFor(world, authors, { slug: `page${page}` });
    await attempt(world, terms, await paymentFor(world, payer, terms));
  }
  await chainCall(world, 'evm_setAutomine', false);
  const batches = [await sendAll(world), await sendAll(world), await sendAll(world)];
  await leaveFirst(me, 100_000n);
  await mine(world);
  await chainCall(world, 'evm_setAutomine', true);
  for (const batchId of batches) await look(world, batchId);
  const [sent] = await world.database.query<{ n: number }>(
    "select count(*)::int as n from payment where state = 'failed' and batch_id is not null",
  );
  expect(sent?.n).toBe(PLAIN_SENT_LIMIT);
  expect(await strikesOf(me)).toBeGreaterThanOrEqual(STRIKE_LIMIT);
  expect(await gasSpent()).toBeLessThan(PLAIN_SENT_LIMIT * 75_000);
  await sendAll(world);
  const left = await world.database.query("select 1 as one from payment where state in ('accepted', 'broadcast')");
  expect(left).toEqual([]);
});

test('money that is away in our block and back after it is a strike each time, on pages of several authors too', async () => {
  await start();
  const payer = await newPayer(world, 40_000n);
  const me = addressOf(payer);
  const authors = newAuthors(2n, 1n);
  for (let page = 0; page < 20; page += 1) {
    const terms = termsFor(world, authors, { slug: `page${page}` });
    await attempt(world, terms, await paymentFor(world, payer, terms));
  }
  await chainCall(world, 'evm_setAutomine', false);
  const batchId = await sendAll(world);
  await leaveFirst(me, 40_000n);
  await mine(world);
  await chainCall(world, 'evm_setAutomine', true);
  await world.fund(me, 40_000n);
  await look(world, batchId);
  expect(await strikesOf(me)).toBe(20);
  await sendAll(world);
  expect(await world.database.query('select distinct state, raw_reason from payment')).toEqual([
    { state: 'failed', raw_reason: 'payer_struck' },
  ]);
  expect(await world.database.query('select 1 as one from settlement_batch')).toHaveLength(1);
});

test('a key that turns out to have code keeps no buyer of a site waiting behind its rows', async () => {
  await start();
  const evil = newAccount();
  await chainCall(world, 'anvil_setCode', addressOf(evil), YES_CODE);
  await world.fund(addressOf(evil), 10_000_000n);
  const authors = newAuthors(1n);
  const buy = async (tenantId: string, slug: string) => {
    const terms = { ...termsFor(world, authors, { slug }), tenantId };
    await attempt(world, terms, await paymentFor(world, evil, terms));
  };
  for (let page = 0; page < 60; page += 1) await buy(world.tenantId, `page${page}`);
  for (let site = 0; site < 59; site += 1) {
    const id = randomUUID();
    await world.database.query("insert into tenant (tenant_id, status, price_usdc) values ($1, 'active', '0.001')", [id]);
    await buy(id, 'x');
  }
  const terms = termsFor(world, newAuthors(1n), { slug: 'honest' });
  const honest = await paymentFor(world, await newPayer(world), terms);
  await attempt(world, terms, honest);
  for (let batch = 0; batch < 4; batch += 1) await look(world, await sendAll(world));
  expect(await stateOf(world, honest)).toMatchObject({ state: 'settled' });
  for (let batch = 0; batch < 60; batch += 1) await look(world, await sendAll(world));
});

test('one round in which a node counts too much releases no batch that is still unmined', async () => {
  let lying = false;
  await start((rpc) => ({
    ...rpc,
    async request<T>(method: string, params: readonly unknown[], options?: { readonly timeoutMs?: number }): Promise<T> {
      if (method === 'eth_getTransactionCount' && lying && params[1] !== 'pending') return '0x2' as T;
      return rpc.request<T>(method, params, options);
    },
  }));
  const payer = await newPayer(world);
  await chainCall(world, 'evm_setAutomine', false);
  const terms = termsFor(world, newAuthors(1n), { slug: 'unmined' });
  const payment = await paymentFor(world, payer, terms);
  await attempt(world, terms, payment);
  const batchId = await sendAll(world);
  lying = true;
  await sweepNetwork(world.deps, world.network.id);
  lying = false;
  expect(await world.database.query('select state from settlement_batch')).toEqual([{ state: 'open' }]);
  expect(await stateOf(world, payment)).toMatchObject({ state: 'broadcast', attempts: 0 });
  await chainCall(world, 'evm_setAutomine', true);
  await mine(world, 2);
  await look(world, batchId);
  expect(await stateOf(world, payment)).toMatchObject({ state: 'settled' });
  expect(
    await world.database.query('select 1 as one from settlement_batch where gas_wei > gas_used and gas_used > 0'),
  ).toHaveLength(1);
});
