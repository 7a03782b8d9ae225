import { encodeFunctionData, parseAbi } from 'viem';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Address } from '../../modules/kernel/money/legs.ts';
import type { Terms } from '../../modules/kernel/terms.ts';
import type { ParsedPayment } from '../../modules/kernel/x402/payload.ts';
import { correctFlushed } from '../../modules/reconciliation/use/corrections.ts';
import { readChain } from '../../modules/reconciliation/use/readChain.ts';
import { reconcileLegs } from '../../modules/reconciliation/use/report.ts';
import { flushSplits } from '../../modules/settlement/use/relayer/flush.ts';
import { recheckPayees } from '../../modules/settlement/use/watch/payees.ts';
import { routerAbi } from '../../platform/chain/calls/abi.ts';
import { transferCall } from '../../platform/chain/calls/tokenCalls.ts';
import { listBalances } from '../../platform/chain/evidence/states.ts';
import { checksumAddress } from '../../platform/chain/offer.ts';
import { waitingOf } from '../../platform/chain/router/split.ts';
import { age, attempt, block, mine, stateOf, strangerCalls, sweep } from '../support/faults.ts';
import { checkInvariants } from '../support/invariants.ts';
import { newWallet } from '../support/payments.ts';
import type { SettlementWorld } from '../support/settlement.ts';
import { newAuthors, newPayer, paymentFor, startSettlement, termsFor } from '../support/settlement.ts';

const mintAbi = parseAbi(['function mint(address to, uint256 value)']);
const transferFromAbi = parseAbi(['function transferFrom(address from, address to, uint256 value) returns (bool)']);

let world: SettlementWorld;
/** What authors got of gifts, by wallet. */
let gifts: Map<string, bigint>;
beforeEach(async () => {
  gifts = new Map();
  world = await startSettlement({ automine: true, runBatches: false, waitMs: 30 });
  await mine(world, 5);
});
afterEach(async () => {
  try {
    await checkInvariants(world, { gifts });
  } finally {
    await world.close();
  }
});

const pull = (payment: ParsedPayment) => ({ to: world.network.asset, data: transferCall(payment) });
const gift = (terms: Terms, amountMicro: bigint) => ({
  to: world.network.asset,
  data: encodeFunctionData({ abi: mintAbi, functionName: 'mint', args: [terms.payTo, amountMicro] }),
});
const flush = (terms: Terms) => ({
  to: world.network.router,
  data: encodeFunctionData({
    abi: routerAbi,
    functionName: 'flushAll',
    args: [world.network.asset, [...(terms.legWords ?? [])]],
  }),
});

/** Anybody may move nothing out of a split. */
const nothing = (terms: Terms, to: Address) => ({
  to: world.network.asset,
  data: encodeFunctionData({ abi: transferFromAbi, functionName: 'transferFrom', args: [terms.payTo, to, 0n] }),
});

/** A payment of a new payer that waits for its batch. */
const stored = async (terms: Terms): Promise<ParsedPayment> => {
  const payment = await paymentFor(world, await newPayer(world), terms);
  expect((await attempt(world, terms, payment)).code).toBe('settlement_pending');
  return payment;
};
const reconcile = async (): Promise<number> => {
  await readChain(world.deps, world.network.id);
  return correctFlushed(world.deps, world.network.id);
};
/** Until payments that strangers brought in are final and the ledger shows what the flushes paid. */
const finish = async (...payments: readonly ParsedPayment[]): Promise<void> => {
  await age(world);
  await sweep(world, 2);
  await mine(world, 40);
  await sweep(world, 2);
  for (const payment of payments) expect(await stateOf(world, payment)).toMatchObject({ state: 'final' });
  await reconcile();
};
const report = () =>
  world.database.transaction((sql) => reconcileLegs(sql, world.tenantId, { from: null, to: null }), 'repeatable read read only');
const ledgerOf = async (terms: Terms): Promise<bigint[]> => {
  const rows = await world.database.query<{ to_address: string; micro: string }>(
    'select to_address, sum(amount_micro)::text as micro from leg where slug = $1 group by 1',
    [terms.slug],
  );
  const net = new Map(rows.map((row) => [row.to_address, BigInt(row.micro)]));
  return terms.legs.map(({ toAddress }) => net.get(toAddress) ?? 0n);
};
const sum = (amounts: readonly bigint[]): bigint => amounts.reduce((total, amount) => total + amount, 0n);
/** Every author got what the ledger says, and of the gifts a part that is not negative. */
const expectGifts = async (terms: Terms, given: bigint): Promise<void> => {
  const wallets = terms.legs.map((leg) => leg.toAddress);
  const [ledger, balances] = [await ledgerOf(terms), await listBalances(world.rpc, world.network, wallets)];
  const parts = balances.map((balance, place) => balance - (ledger[place] ?? 0n));
  expect(parts.every((part) => part >= 0n)).toBe(true);
  expect(sum(parts)).toBe(given);
  gifts = new Map(wallets.map((wallet, place) => [wallet, parts[place] ?? 0n]));
};

test('a payment, a flush, a gift and a flush of it in one transaction: the legs are settled to the micro, and the gift is nobody’s', async () => {
  const terms = termsFor(world, newAuthors(5n, 3n, 2n), { slug: 'trio', priceMicro: 1_001n });
  const payment = await stored(terms);
  await strangerCalls(world, [pull(payment), flush(terms), gift(terms, 9n), flush(terms)]);
  await finish(payment);
  expect(await ledgerOf(terms)).toEqual([501n, 300n, 200n]);
  await expectGifts(terms, 9n);
  const { settled, outstanding, exceptions } = await report();
  expect({ settled, outstanding, exceptions }).toEqual({
    settled: { legs: 3, micro: 1_001n },
    outstanding: { legs: 0, micro: 0n },
    exceptions: [],
  });
});

test('a payment that came in behind a flush of the same amount is open until a payout of its own', async () => {
  const terms = termsFor(world, newAuthors(2n, 1n), { slug: 'behind', priceMicro: 1_000n });
  const payment = await stored(terms);
  await strangerCalls(world, [gift(terms, 1_000n)]);
  await strangerCalls(world, [flush(terms), pull(payment)]);
  await finish(payment);
  expect(await report()).toMatchObject({ settled: { legs: 0 }, outstanding: { legs: 2, micro: 1_000n } });
  await strangerCalls(world, [flush(terms)]);
  await mine(world, 40);
  await reconcile();
  await expectGifts(terms, 1_000n);
  expect(await report()).toMatchObject({ settled: { micro: 1_000n }, outstanding: { legs: 0, micro: 0n }, exceptions: [] });
});

test('two payments brought in and flushed together in one transaction: the ledger takes over how the flush rounded', async () => {
  const terms = termsFor(world, newAuthors(5n, 3n, 2n), { slug: 'pair', priceMicro: 1_006n });
  const payments = [await stored(terms), await stored(terms)];
  await strangerCalls(world, [...payments.map(pull), flush(terms)]);
  await finish(...payments);
  expect(await ledgerOf(terms)).toEqual([1_007n, 603n, 402n]);
  await expectGifts(terms, 0n);
  expect(await report()).toMatchObject({ settled: { micro: 2_012n }, outstanding: { legs: 0, micro: 0n }, exceptions: [] });
  expect(await reconcile()).toBe(0);
});

test('what lay at a split before we ever heard of it does not keep the first payment open', async () => {
  const terms = termsFor(world, newAuthors(2n, 1n), { slug: 'before', priceMicro: 1_000n });
  await strangerCalls(world, [gift(terms, 5n)]);
  await mine(world, 40);
  await readChain(world.deps, world.network.id);
  const payment = await stored(terms);
  await strangerCalls(world, [pull(payment)]);
  await strangerCalls(world, [flush(terms)]);
  await finish(payment);
  await expectGifts(terms, 5n);
  expect(await report()).toMatchObject({ settled: { micro: 1_000n }, outstanding: { legs: 0, micro: 0n }, exceptions: [] });
});

test.each([
  ['a stranger', () => newWallet()],
  ['the first author', (terms: Terms) => terms.legs[0]?.toAddress ?? newWallet()],
])('a transfer of nothing out of a split to %s, between payment and flush, leaves the legs settled', async (_, to) => {
  const terms = termsFor(world, newAuthors(5n, 3n, 2n), { slug: 'nothing', priceMicro: 1_001n });
  const payment = await stored(terms);
  await strangerCalls(world, [pull(payment)]);
  await strangerCalls(world, [nothing(terms, to(terms))]);
  await strangerCalls(world, [flush(terms)]);
  await finish(payment);
  await expectGifts(terms, 0n);
  expect(await report()).toMatchObject({ settled: { micro: 1_001n }, outstanding: { legs: 0, micro: 0n }, exceptions: [] });
  expect(await world.database.query('select 1 from chain_transfer where amount_micro = 0')).toEqual([]);
});

test('of fifty equal authors the first keeps what is his, although a flush rounds against him', async () => {
  const terms = termsFor(world, newAuthors(...Array.from({ length: 50 }, () => 1n)), { slug: 'fifty', priceMicro: 1_040n });
  const payment = await stored(terms);
  await strangerCalls(world, [gift(terms, 30n), pull(payment)]);
  await strangerCalls(world, [flush(terms)]);
  await finish(payment);
  await expectGifts(terms, 30n);
  expect(await report()).toMatchObject({ outstanding: { legs: 0, micro: 0n }, exceptions: [] });
});

test('a flush is looked at again while its payment may still be recorded, and in blocks that were not read or compared yet, later', async () => {
  const terms = termsFor(world, newAuthors(5n, 3n, 2n), { slug: 'late', priceMicro: 1_006n });
  const payer = await newPayer(world);
  const [leader, held] = [await paymentFor(world, payer, terms), await paymentFor(world, payer, terms)];
  for (const payment of [leader, held]) await attempt(world, terms, payment);
  expect(await stateOf(world, held)).toMatchObject({ state: 'held' });
  await strangerCalls(world, [gift(terms, 4n), pull(leader), pull(held), flush(terms)]);
  await mine(world, 40);
  expect(await reconcile()).toBe(0);
  await age(world);
  await sweep(world, 2);
  await mine(world, 40);
  await sweep(world, 2);
  for (const payment of [leader, held]) expect(await stateOf(world, payment)).toMatchObject({ state: 'final' });
  await readChain(world.deps, world.network.id);
  const [cursor] = await world.database.query<{ next_block: string }>('select next_block from chain_cursor');
  for (const mark of ['next_block', 'compared_block']) {
    await world.database.query(`update chain_cursor set ${mark} = 1`);
    expect(await correctFlushed(world.deps, world.network.id)).toBe(0);
    await world.database.query(`update chain_cursor set ${mark} = $1`, [cursor?.next_block]);
  }
  expect(await correctFlushed(world.deps, world.network.id)).toBeGreaterThan(0);
  await expectGifts(terms, 4n);
  expect(await report()).toMatchObject({ settled: { micro: 2_012n }, outstanding: { legs: 0, micro: 0n }, exceptions: [] });
});

const around = (terms: Terms) => ({
  to: world.network.router,
  data: encodeFunctionData({
    abi: routerAbi,
    functionName: 'flushAround',
    args: [world.network.asset, [...(terms.legWords ?? [])]],
  }),
});
const flushNow = () => flushSplits(world.deps, world.network.id);
/** What the owner and the operator are told of authors who cannot be paid. */
const alerts = async (): Promise<string[]> => {
  const rows = await world.database.query<{ detail: string }>(
    "select detail from operator_alert where kind = 'payee_blocked' and tenant_id = $1 order by alert_id",
    [world.tenantId],
  );
  return rows.map(({ detail }) => detail);
};

test('an author whom the token refuses holds up nobody: the others are paid, his part waits for him, and is paid once the token does', async () => {
  const terms = termsFor(world, newAuthors(5n, 3n, 2n), { slug: 'refused', priceMicro: 10_001n });
  const [first, second, third] = terms.legs.map((leg) => leg.toAddress) as [Address, Address, Address];
  const place = waitingOf(second, world.network.router).payTo;
  const payment = await stored(terms);
  await strangerCalls(world, [pull(payment)]);
  await block(world, second);
  await finish(payment);
  expect(await flushNow()).toBe(0);
  expect(await alerts()).toEqual([`${world.network.id} ${terms.payTo}`]);
  expect(await flushNow()).toBe(1);
  await sweep(world, 1);
  await mine(world, 40);
  await reconcile();
  expect(await listBalances(world.rpc, world.network, [first, second, third, place])).toEqual([5_001n, 0n, 2_000n, 3_000n]);
  expect(await ledgerOf(terms)).toEqual([5_001n, 3_000n, 2_000n]);
  expect(await report()).toMatchObject({
    settled: { legs: 2, micro: 7_001n },
    outstanding: { legs: 1, micro: 3_000n },
    exceptions: [{ reason: 'payee_blocked', micro: 3_000n, toAddress: checksumAddress(second) }],
  });
  expect((await alerts()).at(-1)).toBe(`${world.network.id} ${second}: his part of ${terms.payTo} waits at ${place}`);
  // What waits costs no gas while he is refused, however often it is looked at.
  for (let round = 0; round < 3; round += 1) expect(await flushNow()).toBe(0);
  await block(world, second, false);
  await recheckPayees(world.deps, world.network.id);
  expect(await flushNow()).toBe(1);
  await sweep(world, 1);
  await mine(world, 40);
  await reconcile();
  expect(await listBalances(world.rpc, world.network, [second, place])).toEqual([3_000n, 0n]);
  expect(await report()).toMatchObject({ settled: { micro: 10_001n }, outstanding: { legs: 0, micro: 0n }, exceptions: [] });
});

test('a stranger who pays out around a refused author, in the payment’s own transaction and before we know the place, changes nothing of it', async () => {
  const terms = termsFor(world, newAuthors(2n, 1n), { slug: 'around', priceMicro: 9_000n });
  const [first, second] = terms.legs.map((leg) => leg.toAddress) as [Address, Address];
  const { payTo: place, word } = waitingOf(second, world.network.router);
  const payment = await stored(terms);
  await block(world, second);
  await strangerCalls(world, [pull(payment), around(terms)]);
  await block(world, second, false);
  await strangerCalls(world, [flush({ ...terms, legWords: [word] })]);
  await finish(payment);
  await reconcile();
  expect(await listBalances(world.rpc, world.network, [first, second, place])).toEqual([6_000n, 3_000n, 0n]);
  expect(await report()).toMatchObject({ settled: { micro: 9_000n }, outstanding: { legs: 0, micro: 0n }, exceptions: [] });
});

test('while a part waits, a second one of another split joins it, and each is open until the place has paid it', async () => {
  const authors = newAuthors(2n, 1n);
  const pages = [
    termsFor(world, authors, { slug: 'one', priceMicro: 9_000n }),
    termsFor(world, [...newAuthors(5n), ...authors.slice(1)], { slug: 'two', priceMicro: 6_000n }),
  ] as const;
  const refused = pages[0].legs[1]?.toAddress as Address;
  const payments = [await stored(pages[0]), await stored(pages[1])];
  await block(world, refused);
  await strangerCalls(world, [...payments.map(pull), around(pages[0])]);
  await strangerCalls(world, [around(pages[1])]);
  await finish(...payments);
  await reconcile();
  const { exceptions, outstanding } = await report();
  expect(outstanding).toEqual({ legs: 2, micro: 4_000n });
  expect(exceptions.map(({ reason }) => reason)).toEqual(['payee_blocked', 'payee_blocked']);
  await block(world, refused, false);
  await strangerCalls(world, [flush({ ...pages[0], legWords: [waitingOf(refused, world.network.router).word] })]);
  await mine(world, 40);
  await reconcile();
  expect(await report()).toMatchObject({ outstanding: { legs: 0, micro: 0n }, exceptions: [] });
});

test('a part that comes to a place which has paid before is open until the place pays again', async () => {
  const terms = termsFor(world, newAuthors(2n, 1n), { slug: 'again', priceMicro: 9_000n });
  const refused = terms.legs[1]?.toAddress as Address;
  const payPlace = flush({ ...terms, legWords: [waitingOf(refused, world.network.router).word] });
  const [first, second] = [await stored(terms), await stored(terms)];
  await block(world, refused);
  await strangerCalls(world, [pull(first), around(terms)]);
  await block(world, refused, false);
  await strangerCalls(world, [payPlace]);
  await block(world, refused);
  await strangerCalls(world, [pull(second), around(terms)]);
  await finish(first, second);
  await reconcile();
  expect(await report()).toMatchObject({
    outstanding: { legs: 1, micro: 3_000n },
    exceptions: [{ reason: 'payee_blocked' }],
  });
  await block(world, refused, false);
  await strangerCalls(world, [payPlace]);
  await mine(world, 40);
  await reconcile();
  expect(await report()).toMatchObject({ settled: { micro: 18_000n }, outstanding: { legs: 0, micro: 0n }, exceptions: [] });
});
