/** A base fee above what the network's settings allow us to offer: nothing is taken that could not be mined, and nothing is paid for in vain. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Hex } from '../../modules/kernel/x402/payload.ts';
import { sweepNetwork } from '../../modules/settlement/use/watch/sweep.ts';
import { receiptOf } from '../../platform/chain/evidence/receipts.ts';
import { baseFeeOf } from '../../platform/chain/transaction.ts';
import { age, attempt, chainCall, look, mine, sendAll, stateOf, sweep } from '../support/faults.ts';
import { checkInvariants } from '../support/invariants.ts';
import type { SettlementWorld } from '../support/settlement.ts';
import { newAuthors, newPayer, pay, paymentFor, startSettlement, termsFor } from '../support/settlement.ts';

const CAP = 100_000_000_000n;
let world: SettlementWorld;
beforeEach(async () => {
  world = await startSettlement({ automine: true, runBatches: false, waitMs: 50, network: { maxFeePerGasWei: CAP } });
});
afterEach(async () => {
  try {
    await checkInvariants(world, {});
  } finally {
    await world.close();
  }
});

const mineAt = async (baseFeeWei: bigint, blocks = 1) => {
  for (let block = 0; block < blocks; block += 1) {
    await chainCall(world, 'anvil_setNextBlockBaseFeePerGas', `0x${baseFeeWei.toString(16)}`);
    await mine(world);
  }
};
const newSale = async (slug: string) => {
  const terms = termsFor(world, newAuthors(3n, 1n), { slug });
  return { terms, payment: await paymentFor(world, await newPayer(world), terms) };
};
type Sale = Awaited<ReturnType<typeof newSale>>;
const newSales = async (count: number) => {
  const sales: Sale[] = [];
  for (let made = 0; made < count; made += 1) sales.push(await newSale(`page-${made}`));
  return sales;
};
const attempts = () =>
  world.database.query<{ kind: string; nonce: string; tx_hash: Hex }>(
    'select kind, nonce, tx_hash from relayer_transaction order by nonce, attempt',
  );
const rows = async () => (await world.database.query('select 1 from payment')).length;
/** Until the connection has looked at the newest block. */
const seen = async () => {
  const newest = await baseFeeOf(world.rpc);
  for (const end = Date.now() + 15_000; (await world.rpc.baseFee?.()) !== newest && Date.now() < end; )
    await new Promise((resolve) => setTimeout(resolve, 100));
};

test('while the base fee is above the cap, payments are refused with 503 before they have a row, and taken again once it has fallen', async () => {
  const sales = await newSales(5);
  const low = await baseFeeOf(world.rpc);
  await mineAt(20n * CAP);
  await seen();
  for (const { terms, payment } of sales) {
    const error = await pay(world, terms, payment).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'overloaded', details: { retryAfterSeconds: 30 } });
  }
  expect(await rows()).toBe(0);
  await mineAt(low);
  await seen();
  for (const { terms, payment } of sales) expect((await attempt(world, terms, payment)).code).toBe('settlement_pending');
  await look(world, await sendAll(world));
  for (const { payment } of sales) expect(await stateOf(world, payment)).toMatchObject({ state: 'settled' });
});

test('a network that has cost its gas of the day sells no more until the next day, whatever its sites have left', async () => {
  const settings = { ...world.deps.settings, networkGasBudgetWeiPerDay: 10n ** 15n };
  const limited = { ...world, settleDeps: { ...world.settleDeps, settings } };
  const [first, second] = (await newSales(2)) as [Sale, Sale];
  expect((await attempt(limited, first.terms, first.payment)).code).toBe('settlement_pending');
  await look(world, await sendAll(world));
  const spent = () => world.database.query<{ wei: string }>('select gas_wei as wei from network_gas_usage');
  const [sold] = await world.database.query<{ wei: string }>('select gas_wei as wei from gas_usage');
  expect(await spent()).toEqual([sold]);
  await world.database.query('update network_gas_usage set gas_wei = $1', [(10n ** 15n).toString()]);
  const error = await pay(limited, second.terms, second.payment).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: 'gas_budget_spent', details: { retryAfterSeconds: 3600 } });
  expect(await rows()).toBe(1);
  await world.database.query('update network_gas_usage set day = day - 1');
  expect((await attempt(limited, second.terms, second.payment)).code).toBe('settlement_pending');
  await look(world, await sendAll(world));
});

test('a payment that was taken before the base fee rose is signed once it has fallen, and no nonce is taken before', async () => {
  const low = await baseFeeOf(world.rpc);
  const { terms, payment } = await newSale('early');
  expect((await attempt(world, terms, payment)).code).toBe('settlement_pending');
  await mineAt(20n * CAP);
  await sendAll(world);
  expect(await attempts()).toEqual([]);
  expect(await stateOf(world, payment)).toMatchObject({ state: 'accepted' });
  await mineAt(low);
  await look(world, await sendAll(world));
  expect(await stateOf(world, payment)).toMatchObject({ state: 'settled' });
});

test('a batch whose payments have all run out unmined gives its nonce to a transfer to the key itself, which is all that is paid for', async () => {
  const low = await baseFeeOf(world.rpc);
  const sales = await newSales(3);
  for (const { terms, payment } of sales) expect((await attempt(world, terms, payment)).code).toBe('settlement_pending');
  await chainCall(world, 'evm_setAutomine', false);
  await sendAll(world);
  await mineAt(20n * CAP);
  await chainCall(world, 'evm_increaseTime', 400);
  await mineAt(20n * CAP, 3);
  await age(world);
  for (let round = 0; round < 3; round += 1) {
    await mineAt(20n * CAP);
    await sweepNetwork(world.deps, world.network.id);
  }
  for (const { payment } of sales) expect(await stateOf(world, payment)).toMatchObject({ state: 'failed' });
  expect((await attempts()).map(({ kind, nonce }) => `${kind} ${nonce}`)).toEqual(['settle 0', 'void 0']);
  await chainCall(world, 'evm_setAutomine', true);
  await mineAt(low);
  await sweep(world, 3);
  const receipts = await Promise.all((await attempts()).map(({ tx_hash }) => receiptOf(world.rpc, tx_hash)));
  expect(receipts.map((receipt) => receipt?.gasUsed ?? null)).toEqual([null, 21_000n]);
  expect(await world.database.query('select gas_wei from gas_usage where gas_wei > 0')).toEqual([]);
  expect(await world.database.query('select 1 from network_gas_usage where gas_wei > 0')).toHaveLength(1);
  expect(await world.database.query("select 1 from settlement_batch where state = 'open'")).toEqual([]);
});
