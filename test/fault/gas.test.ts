/** What the relayer pays for besides sales, and whom it is charged to. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Terms } from '../../modules/kernel/terms.ts';
import type { Hex } from '../../modules/kernel/x402/payload.ts';
import { flushSplits } from '../../modules/settlement/use/relayer/flush.ts';
import { costOf } from '../../modules/settlement/use/relayer/gasUsage.ts';
import { receiptOf } from '../../platform/chain/evidence/receipts.ts';
import { listBalances } from '../../platform/chain/evidence/states.ts';
import { RpcError } from '../../platform/chain/rpc/rpc.ts';
import { attempt, chainCall, cuttable, look, mine, sendAll, spend, stateOf, submitAlone, sweep } from '../support/faults.ts';
import type { Known } from '../support/invariants.ts';
import { checkInvariants } from '../support/invariants.ts';
import { addressOf, newWallet } from '../support/payments.ts';
import type { SettlementWorld } from '../support/settlement.ts';
import { newAuthors, newPayer, paymentFor, startSettlement, termsFor } from '../support/settlement.ts';

const MICRO_PER_USDC = 1_000_000n;
let world: SettlementWorld;
let line: ReturnType<typeof cuttable>;
let known: Known;
const start = async (options: Parameters<typeof startSettlement>[0] = {}): Promise<void> => {
  const wrap = (rpc: Parameters<typeof cuttable>[0]) => (line = cuttable(rpc));
  world = await startSettlement({ automine: true, runBatches: false, waitMs: 30, wrap, ...options });
  await mine(world, 5);
};
beforeEach(() => {
  known = {};
});
afterEach(async () => {
  try {
    await checkInvariants(world, known);
  } finally {
    await world.close();
  }
});

const equal = (legs: number) => newAuthors(...Array.from({ length: legs }, () => 1n));
const taken = async (terms: Terms) => {
  const payment = await paymentFor(world, await newPayer(world), terms);
  expect((await attempt(world, terms, payment)).code).toBe('settlement_pending');
  return payment;
};
const settleAll = async () => {
  for (let left = 1; left > 0; left -= 0) {
    await look(world, await sendAll(world));
    left = (await world.database.query("select 1 as one from payment where state in ('accepted', 'broadcast')")).length;
  }
};
const newSite = async (): Promise<string> => {
  const site = crypto.randomUUID();
  await world.database.query("insert into tenant (tenant_id, status, price_usdc) values ($1, 'active', '0.001')", [site]);
  return site;
};
const charged = async (tenantId: string) =>
  BigInt(
    (await world.database.query<{ wei: string }>('select gas_wei as wei from gas_usage where tenant_id = $1', [tenantId]))[0]
      ?.wei ?? 0,
  );
const mined = async () => {
  const rows = await world.database.query<{ tx_hash: Hex; kind: string }>('select tx_hash, kind from relayer_transaction');
  const receipts = await Promise.all(
    rows.map(async ({ tx_hash, kind }) => ({ kind, receipt: await receiptOf(world.rpc, tx_hash) })),
  );
  return receipts.flatMap(({ kind, receipt }) => (receipt ? [{ kind, cost: costOf(receipt), receipt }] : []));
};
const flush = () => flushSplits(world.deps, world.network.id);
const PRICED = { network: { nativePriceMicro: 4_000n * MICRO_PER_USDC } };
const gifts = (terms: Terms, each: bigint) => {
  known = { ...known, gifts: new Map([...(known.gifts ?? []), ...terms.legs.map((leg) => [leg.toAddress, each] as const)]) };
};

test('a thousandth of a dollar at each of six splits of fifty authors costs no gas; what is worth a flush is paid out and charged', async () => {
  await start(PRICED);
  const pages = Array.from({ length: 6 }, (_, n) => termsFor(world, equal(50), { slug: `page-${n}` }));
  for (const terms of pages) await taken(terms);
  await settleAll();
  const before = await charged(world.tenantId);
  const transactions = (await mined()).length;
  for (const { payTo } of pages) await world.fund(payTo, 1_000n);
  for (let round = 0; round < 3; round += 1) expect(await flush()).toBe(0);
  expect((await mined()).length).toBe(transactions);
  const [worthy] = pages as [Terms];
  await world.fund(worthy.payTo, 50n * MICRO_PER_USDC - 1_000n);
  gifts(worthy, MICRO_PER_USDC);
  expect(await flush()).toBe(1);
  await sweep(world, 2);
  expect(await listBalances(world.rpc, world.network, [worthy.payTo])).toEqual([0n]);
  const spent = (await mined()).filter(({ kind }) => kind === 'flush');
  expect(spent).toHaveLength(1);
  expect((await charged(world.tenantId)) - before).toBe(spent[0]?.cost);
});

test('a round pays out as many splits as a batch has gas for in one transaction, which its sites bear', async () => {
  await start();
  const pages = Array.from({ length: 12 }, (_, n) => termsFor(world, equal(3), { slug: `page-${n}` }));
  for (const terms of pages) await taken(terms);
  await settleAll();
  const before = await charged(world.tenantId);
  for (const terms of pages) await world.fund(terms.payTo, 3_000n);
  for (const terms of pages) gifts(terms, 1_000n);
  await chainCall(world, 'evm_setAutomine', false);
  expect(await flush()).toBe(12);
  expect(await flush()).toBe(0);
  await chainCall(world, 'evm_setAutomine', true);
  await sweep(world, 2);
  const spent = (await mined()).filter(({ kind }) => kind === 'flush');
  expect(spent).toHaveLength(1);
  expect((await charged(world.tenantId)) - before).toBe(spent[0]?.cost);
  const payTos = pages.map(({ payTo }) => payTo);
  expect(await listBalances(world.rpc, world.network, payTos)).toEqual(payTos.map(() => 0n));
});

test('splits of fifty authors are paid out up to the gas of one batch at a time, the rest in the next round', async () => {
  await start();
  const pages = Array.from({ length: 7 }, (_, n) => termsFor(world, equal(50), { slug: `page-${n}`, priceMicro: 50_000n }));
  for (const terms of pages) await taken(terms);
  await settleAll();
  for (const terms of pages) await world.fund(terms.payTo, 50_000n);
  for (const terms of pages) gifts(terms, 1_000n);
  const first = await flush();
  expect(first).toBeGreaterThan(1);
  expect(first).toBeLessThan(7);
  await sweep(world, 2);
  expect(await flush()).toBe(7 - first);
  await sweep(world, 2);
  const limits = await world.database.query<{ gas: string }>(
    "select max(gas_limit)::text as gas from relayer_transaction where kind = 'flush'",
  );
  expect(BigInt(limits[0]?.gas ?? 0)).toBeLessThan(13_000_000n);
  const payTos = pages.map(({ payTo }) => payTo);
  expect(await listBalances(world.rpc, world.network, payTos)).toEqual(payTos.map(() => 0n));
});

test('a split that was only shown to us is not ours to pay out; one that a stranger settled without a claim is', async () => {
  await start();
  const [shown, front] = [termsFor(world, equal(3), { slug: 'shown' }), termsFor(world, equal(3), { slug: 'front' })];
  const payer = await newPayer(world, shown.priceMicro);
  const empty = await paymentFor(world, payer, shown);
  await attempt(world, shown, empty);
  await spend(world, addressOf(payer), newWallet(), shown.priceMicro);
  await sendAll(world).catch(() => undefined);
  expect(await stateOf(world, empty)).toMatchObject({ state: 'failed', reason: 'insufficient_funds' });
  await world.fund(shown.payTo, 3n * MICRO_PER_USDC);
  expect(await flush()).toBe(0);
  const payment = await taken(front);
  await submitAlone(world, payment);
  await sendAll(world).catch(() => undefined);
  await sweep(world, 2);
  expect(['settled', 'final']).toContain((await stateOf(world, payment))?.state);
  expect(await flush()).toBe(1);
  await sweep(world, 2);
  expect(
    await listBalances(
      world.rpc,
      world.network,
      front.legs.map((leg) => leg.toAddress),
    ),
  ).toEqual(front.legs.map((leg) => leg.amountMicro));
});

test('a claim remembers who sells through a split, before anything is proven', async () => {
  await start();
  const terms = termsFor(world, equal(2), { slug: 'claimed' });
  await taken(terms);
  const sellers = () => world.database.query('select tenant_id, pay_to from split_seller');
  expect(await sellers()).toEqual([]);
  const batchId = await sendAll(world);
  expect(await sellers()).toEqual([{ tenant_id: world.tenantId, pay_to: terms.payTo }]);
  await look(world, batchId);
});

test('sites that sell through one split bear its flush in equal parts; one past half of its day bears none, and alone it waits', async () => {
  await start({ settings: { gasBudgetWeiPerDay: 10n ** 18n } });
  const terms = termsFor(world, equal(2), { slug: 'shared' });
  const other = await newSite();
  for (const tenantId of [world.tenantId, other]) await taken({ ...terms, tenantId });
  await settleAll();
  const set = (tenantId: string, wei: bigint) =>
    world.database.query('update gas_usage set gas_wei = $2 where tenant_id = $1', [tenantId, wei.toString()]);
  const lastFlush = async () => (await mined()).filter(({ kind }) => kind === 'flush').at(-1)?.cost ?? 0n;
  const round = async (expected: number) => {
    await world.fund(terms.payTo, 2_000n);
    expect(await flush()).toBe(expected);
    await sweep(world, 2);
  };
  await set(world.tenantId, 0n);
  await set(other, 0n);
  gifts(terms, 1_000n);
  await round(1);
  const [own, its] = [await charged(world.tenantId), await charged(other)];
  expect(own + its).toBe(await lastFlush());
  expect(own - its <= 1n && its - own <= 1n).toBe(true);

  const half = 5n * 10n ** 17n;
  await set(world.tenantId, half);
  gifts(terms, 2_000n);
  await round(1);
  expect(await charged(world.tenantId)).toBe(half);
  expect(await charged(other)).toBeGreaterThan(its);

  await set(other, half);
  await round(0);
  expect(await listBalances(world.rpc, world.network, [terms.payTo])).toEqual([2_000n]);
  await world.database.query('update gas_usage set day = day - 1 where gas_wei > 0');
  gifts(terms, 3_000n);
  expect(await flush()).toBe(1);
  await sweep(world, 2);
});

test('an author who sends money round in wallets of his own spends half of a day of gas, and what was on its way, and no more', async () => {
  await start();
  const pages = Array.from({ length: 3 }, (_, n) => termsFor(world, equal(10), { slug: `round-${n}` }));
  for (const terms of pages) await taken(terms);
  await settleAll();
  await world.database.query('delete from gas_usage');
  let deps = world.deps;
  const round = async (times: number) => {
    for (const terms of pages) {
      await world.fund(terms.payTo, 10_000n);
      gifts(terms, BigInt(times) * 1_000n);
    }
    const sent = await flushSplits(deps, world.network.id);
    await sweep(world, 1);
    return sent;
  };
  expect(await round(1)).toBeGreaterThan(0);
  // The first is the dearest: without full blocks the base fee of this chain falls.
  const dearest = (await mined()).find(({ kind }) => kind === 'flush')?.cost ?? 0n;
  const budget = 2n * dearest;
  deps = { ...deps, settings: { ...deps.settings, gasBudgetWeiPerDay: budget } };
  for (let times = 2; times <= 6; times += 1) await round(times);
  const spent = (await mined()).filter(({ kind }) => kind === 'flush').map(({ cost }) => cost);
  const sum = await charged(world.tenantId);
  expect(sum).toBe(spent.reduce((all, cost) => all + cost, 0n));
  expect(2n * sum).toBeGreaterThanOrEqual(budget);
  // The last one begins below half.
  expect(sum).toBeLessThanOrEqual(budget / 2n + dearest);
  expect(await flushSplits(deps, world.network.id)).toBe(0);
  for (let left = 1; left > 0; ) {
    left = await flush();
    await sweep(world, 1);
  }
});

test('a batch that reverts is charged to the sites it was signed for', async () => {
  await start();
  const neighbour = await newSite();
  await taken(termsFor(world, equal(3), { slug: 'reverted' }));
  await taken({ ...termsFor(world, newAuthors(1n), { slug: 'beside' }), tenantId: neighbour });
  await chainCall(world, 'evm_setAutomine', false);
  const batchId = await sendAll(world);
  await chainCall(world, 'anvil_dropAllTransactions');
  const code = await chainCall<string>(world, 'eth_getCode', world.network.router, 'latest');
  await chainCall(world, 'anvil_setCode', world.network.router, '0xfe');
  await chainCall(world, 'evm_setAutomine', true);
  await look(world, batchId);
  await look(world, batchId);
  const [reverted] = await mined();
  expect(reverted?.receipt.status).toBe('reverted');
  const [own, its] = [await charged(world.tenantId), await charged(neighbour)];
  expect(own + its).toBe(reverted?.cost);
  expect(its).toBeGreaterThan(0n);
  expect(own).toBeGreaterThan(its);
  await chainCall(world, 'anvil_setCode', world.network.router, code);
  await settleAll();
});

test('in one batch with four sales of fifty authors each a lone sale is charged what it costs alone, within a fifth', async () => {
  await start();
  const neighbour = await newSite();
  const lone = (slug: string): Terms => ({ ...termsFor(world, newAuthors(1n), { slug }), tenantId: neighbour });
  await taken(lone('alone'));
  await settleAll();
  const [alone] = await mined();
  const page = termsFor(world, equal(50), { slug: 'many' });
  for (let sale = 0; sale < 4; sale += 1) await taken({ ...page, slug: `many-${sale}` });
  await taken(lone('beside'));
  await world.database.query('delete from gas_usage');
  await settleAll();
  const all = await mined();
  expect(all).toHaveLength(2);
  const batch = all.find(({ cost }) => cost !== alone?.cost);
  const price = batch?.receipt.effectiveGasPriceWei ?? 1n;
  const [its, own] = [await charged(neighbour), await charged(world.tenantId)];
  expect(its + own).toBe(batch?.cost);
  const part = Number(its / price) / Number(alone?.receipt.gasUsed);
  expect(part).toBeGreaterThan(0.8);
  expect(part).toBeLessThan(1.2);
});

test('gas is noted once a batch, however often it is looked at and however often a reorg has it mined', async () => {
  await start();
  await taken(termsFor(world, newAuthors(1n), { slug: 'once' }));
  const batchId = await sendAll(world);
  await look(world, batchId);
  const first = await charged(world.tenantId);
  expect(first).toBe((await mined())[0]?.cost);
  for (let round = 0; round < 2; round += 1) {
    await world.database.query("update settlement_batch set state = 'open' where batch_id = $1", [batchId]);
    await look(world, batchId);
  }
  expect(await charged(world.tenantId)).toBe(first);
});

test('the fee of the chain below counts in what is charged', async () => {
  await start();
  const l1Fee = 123_456_789n;
  const add: typeof line.request = async (method, params, options) => {
    const answer = await line.request(method, params, options);
    if (method !== 'eth_getTransactionReceipt' || answer === null) return answer as never;
    return { ...(answer as object), l1Fee: `0x${l1Fee.toString(16)}` } as never;
  };
  const deps = { ...world.deps, rpcOf: () => ({ ...line, request: add }) };
  await taken(termsFor(world, newAuthors(1n), { slug: 'op-stack' }));
  await look(world, await sendAll(world), deps);
  expect(await charged(world.tenantId)).toBe(((await mined())[0]?.cost ?? 0n) + l1Fee);
});

test('a void is charged to nobody and seen in the metric; the sale that goes out again is charged once', async () => {
  await start();
  const counted: { kind: unknown; wei: number }[] = [];
  const metrics = {
    count: (name: string, value = 1, labels: Record<string, unknown> = {}) => {
      if (name === 'svc.relayer.gas') counted.push({ kind: labels['kind'], wei: value });
    },
    record: () => undefined,
  };
  const deps = { ...world.deps, metrics: metrics as never };
  const payment = await taken(termsFor(world, equal(2), { slug: 'voided' }));
  let refused = false;
  line.cut.before = (method) => {
    if (method !== 'eth_sendRawTransaction' || refused) return null;
    refused = true;
    return new RpcError(-32000, 'exceeds block gas limit', null);
  };
  const batchId = await sendAll(world, deps);
  await look(world, batchId, deps);
  expect(await charged(world.tenantId)).toBe(0n);
  expect(await stateOf(world, payment)).toMatchObject({ state: 'accepted' });
  await look(world, await sendAll(world, deps), deps);
  expect(await stateOf(world, payment)).toMatchObject({ state: 'settled' });
  const [empty, sale] = await mined();
  expect([empty?.kind, sale?.kind].sort()).toEqual(['settle', 'void']);
  const cost = (kind: string) => [empty, sale].find((one) => one?.kind === kind)?.cost ?? 0n;
  expect(counted).toEqual([
    { kind: 'void', wei: Number(cost('void')) },
    { kind: 'settle', wei: Number(cost('settle')) },
  ]);
  expect(await charged(world.tenantId)).toBe(cost('settle'));
});
