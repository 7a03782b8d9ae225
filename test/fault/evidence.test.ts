import { randomUUID } from 'node:crypto';
import type { PrivateKeyAccount } from 'viem/accounts';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { readOpenLedger, writeBudget } from '../../modules/budgets/store/budgets.ts';
import { applyEvents } from '../../modules/settlement/store/applyEvents.ts';
import { listPayments } from '../../modules/settlement/store/payment.ts';
import { flushSplits } from '../../modules/settlement/use/relayer/flush.ts';
import { transferCall } from '../../platform/chain/calls/tokenCalls.ts';
import { blockNumbers } from '../../platform/chain/evidence/receipts.ts';
import { readSights } from '../../platform/chain/evidence/sight.ts';
import { listBalances } from '../../platform/chain/evidence/states.ts';
import {
  age,
  attempt,
  cancel,
  chainCall,
  look,
  mine,
  sendAll,
  spend,
  stateOf,
  strangerCalls,
  submitAlone,
  sweep,
} from '../support/faults.ts';
import { checkInvariants } from '../support/invariants.ts';
import { addressOf, newAccount, newWallet, signPayment } from '../support/payments.ts';
import type { SettlementWorld } from '../support/settlement.ts';
import { newAuthors, newPayer, pay, paymentFor, startSettlement, termsFor } from '../support/settlement.ts';

/** Money that authors of this file got elsewhere, which no ledger of ours may claim. */
const gifts = new Map<string, bigint>();
let world: SettlementWorld;
beforeAll(async () => {
  world = await startSettlement({ automine: true, runBatches: false, waitMs: 50 });
  await mine(world, 10);
});
afterAll(() => world.close());
afterEach(() => checkInvariants(world, { gifts }));

test('one transfer proves one payment: nonces burnt to oneself beside it in the same transaction buy nothing', async () => {
  const authors = newAuthors(1n);
  const payer = await newPayer(world, 20_000n);
  const payments = [];
  for (let page = 0; page < 5; page += 1) {
    const terms = termsFor(world, authors, { slug: `one-transfer-${page}` });
    const payment = await paymentFor(world, payer, terms);
    expect((await attempt(world, terms, payment)).code).toBe('settlement_pending');
    payments.push(payment);
  }
  const [real, ...others] = payments;
  if (!real) throw new Error('no payment');
  const burnt = [];
  for (const { authorization } of others) {
    const { nonce } = authorization;
    burnt.push(await signPayment(world.network, payer, { to: newWallet(), value: authorization.value, nonce }));
  }
  const calls = [...burnt.slice(0, 2), real, ...burnt.slice(2)];
  const hash = await strangerCalls(
    world,
    calls.map((call) => ({ to: world.network.asset, data: transferCall(call) })),
  );
  await sendAll(world);
  expect(await stateOf(world, real)).toMatchObject({ state: 'settled', tx_hash: hash });
  for (const other of others) {
    expect(await stateOf(world, other)).toMatchObject({ state: 'failed', reason: 'authorization_invalid' });
  }
});

test('calldata of a sale made elsewhere before it was shown to us buys nothing, leaves no row, and is counted once', async () => {
  const terms = termsFor(world, newAuthors(1n), { slug: 'foreign-sale' });
  const payment = await paymentFor(world, await newPayer(world), terms);
  await submitAlone(world, payment);
  gifts.set(terms.payTo, terms.priceMicro);
  const presented = pay(world, terms, payment, { keyId: randomUUID() });
  await expect(presented).rejects.toMatchObject({ code: 'authorization_invalid' });
  expect(await stateOf(world, payment)).toBeNull();
  const seen = await world.database.query("select reason from observation where slug = 'foreign-sale'");
  expect(seen).toEqual([{ reason: 'authorization_invalid' }]);
});

test('a stranger who submits the payment right after our row settles it, by his hash, and the flush pays the authors', async () => {
  const terms = termsFor(world, newAuthors(5n, 3n, 2n), { slug: 'front-run' });
  const payment = await paymentFor(world, await newPayer(world), terms);
  expect((await attempt(world, terms, payment)).code).toBe('settlement_pending');
  const hash = await submitAlone(world, payment);
  await sendAll(world);
  expect(await stateOf(world, payment)).toMatchObject({ state: 'settled', tx_hash: hash });
  const receipt = await pay(world, terms, payment);
  expect(receipt.settlementRef).toBe(hash);
  expect(await flushSplits(world.deps, world.network.id)).toBe(1);
  await sweep(world, 2);
  const wallets = terms.legs.map((leg) => leg.toAddress);
  expect(await listBalances(world.rpc, world.network, wallets)).toEqual(terms.legs.map((leg) => leg.amountMicro));
  expect(await flushSplits(world.deps, world.network.id)).toBe(0);
});

test('a front-run that a reorg puts into a lower block than the one our look saw still settles the payment', async () => {
  const terms = termsFor(world, newAuthors(1n), { slug: 'lower-block' });
  const payment = await paymentFor(world, await newPayer(world), terms);
  const stranger = newAccount();
  await chainCall(world, 'anvil_setBalance', addressOf(stranger), '0xde0b6b3a7640000');
  await mine(world, 5);
  expect((await attempt(world, terms, payment)).code).toBe('settlement_pending');
  const { latest } = await blockNumbers(world.rpc);
  const raw = await stranger.signTransaction({
    type: 'eip1559',
    chainId: world.network.chainId,
    nonce: 0,
    to: world.network.asset,
    gas: 300_000n,
    maxFeePerGas: 10n ** 11n,
    maxPriorityFeePerGas: 1n,
    data: transferCall(payment),
  });
  await chainCall(world, 'anvil_reorg', 3, [[raw, 0]]);
  expect((await blockNumbers(world.rpc)).latest).toBe(latest);
  await sendAll(world);
  expect(await stateOf(world, payment)).toMatchObject({ state: 'settled' });
});

test('a cancelled authorization fails as invalid, not as paid, and stays failed', async () => {
  const terms = termsFor(world, newAuthors(2n, 1n), { slug: 'cancelled' });
  const payer = await newPayer(world);
  const payment = await paymentFor(world, payer, terms);
  expect((await attempt(world, terms, payment)).code).toBe('settlement_pending');
  await cancel(world, payer, payment.authorization.nonce);
  await sendAll(world);
  expect(await stateOf(world, payment)).toMatchObject({ state: 'failed', reason: 'authorization_invalid' });
  await sweep(world, 3);
  expect((await attempt(world, terms, payment)).code).toBe('authorization_invalid');
  const watched = await world.database.query("select watched from payment where slug = 'cancelled'");
  expect(watched).toEqual([{ watched: false }]);
});

test('a payment answered as failed and submitted late by a stranger is recorded, and its failure taken back', async () => {
  const terms = termsFor(world, newAuthors(1n), { slug: 'late' });
  const payer = await newPayer(world, 1_010n);
  const payment = await paymentFor(world, payer, terms);
  expect((await attempt(world, terms, payment)).code).toBe('settlement_pending');
  await spend(world, addressOf(payer), newWallet(), 1_000n);
  await sendAll(world);
  expect(await stateOf(world, payment)).toMatchObject({ state: 'failed', reason: 'insufficient_funds' });
  await world.fund(addressOf(payer), 5_000n);
  await submitAlone(world, payment);
  await sweep(world);
  expect(await stateOf(world, payment)).toMatchObject({ state: 'settled', reason: null });
  const seen = await world.database.query("select verdict, count from observation where slug = 'late' order by verdict, count");
  expect(seen).toEqual([
    { verdict: 'paid', count: 1 },
    { verdict: 'payment-failed', count: -1 },
    { verdict: 'payment-failed', count: 1 },
  ]);
  const licence = await pay(world, terms, payment);
  expect(licence.chargedMicro).toBe(1_000n);
});

test('a payment answered as failed counts against its budget until it cannot settle any more, and for good when it does so late', async () => {
  const accountId = randomUUID();
  const limits = { hostMicro: null, pageMicro: null, approveAboveMicro: null, isStopped: false };
  await world.database.query('insert into buyer_account (account_id) values ($1)', [accountId]);
  await writeBudget(world.database, accountId, { ...limits, period: 'month', totalMicro: 1_500n }, 0);
  const spentMicro = async () => (await readOpenLedger(world.database, accountId))?.spentMicro.get('');
  const buy = async (slug: string, payer: PrivateKeyAccount) => {
    const terms = termsFor(world, newAuthors(1n), { slug });
    const payment = await paymentFor(world, payer, terms);
    const code = await pay(world, terms, payment, { accountId }).then(
      () => 'settled',
      (error: { code?: string }) => error.code,
    );
    return { code, payment };
  };
  const payer = await newPayer(world, 1_010n);
  const { payment } = await buy('late-budget', payer);
  await spend(world, addressOf(payer), newWallet(), 1_000n);
  await sendAll(world);
  expect(await stateOf(world, payment)).toMatchObject({ state: 'failed', reason: 'insufficient_funds' });
  expect(await spentMicro()).toBe(1_000n);
  expect((await buy('beside-late', await newPayer(world))).code).toBe('budget_exceeded');
  await world.fund(addressOf(payer), 5_000n);
  await submitAlone(world, payment);
  await sweep(world);
  expect(await stateOf(world, payment)).toMatchObject({ state: 'settled', reason: null });
  expect(await spentMicro()).toBe(1_000n);
  expect((await buy('after-late', await newPayer(world))).code).toBe('budget_exceeded');
});

test('a held authorization that a stranger submits is recorded and paid out, although it was never ours to send', async () => {
  const terms = termsFor(world, newAuthors(1n), { slug: 'held-executed' });
  const payer = await newPayer(world);
  const [first, second] = [await paymentFor(world, payer, terms), await paymentFor(world, payer, terms)];
  expect((await attempt(world, terms, first)).code).toBe('settlement_pending');
  expect((await attempt(world, terms, second)).code).toBe('settlement_pending');
  expect(await stateOf(world, second)).toMatchObject({ state: 'held' });
  await submitAlone(world, second);
  await sweep(world);
  expect(await stateOf(world, second)).toMatchObject({ state: 'settled' });
});

test('of two authorizations with money for one, the other fails alone and its page is not sold', async () => {
  const payer = await newPayer(world, 1_500n);
  const pages = [
    termsFor(world, newAuthors(1n), { slug: 'one-of-two-a' }),
    termsFor(world, newAuthors(1n), { slug: 'one-of-two-b' }),
  ];
  const payments = [];
  for (const terms of pages) {
    const payment = await paymentFor(world, payer, terms);
    expect((await attempt(world, terms, payment)).code).toBe('settlement_pending');
    payments.push(payment);
  }
  await age(world);
  const batchId = await sendAll(world);
  await look(world, batchId);
  const states = [];
  for (const payment of payments) states.push((await stateOf(world, payment))?.state);
  expect(states.toSorted()).toEqual(['failed', 'settled']);
});

test('when one purchase fails and its twin settles in the same round, what waited behind both is superseded and never sent', async () => {
  const terms = termsFor(world, newAuthors(1n), { slug: 'twins' });
  const payer = await newPayer(world);
  const payments = [
    await paymentFor(world, payer, terms),
    await paymentFor(world, payer, terms),
    await paymentFor(world, payer, terms),
  ];
  for (const payment of payments) expect((await attempt(world, terms, payment)).code).toBe('settlement_pending');
  const [failing, settling, waiting] = payments;
  if (!failing || !settling || !waiting) throw new Error('no payments');
  // Two may be undecided at once after a reorg or a release: the twin is made to be.
  await world.database.query("update test.payment set state = 'accepted' where nonce = $1", [settling.authorization.nonce]);
  await submitAlone(world, settling);
  const [first] = await listPayments(world.database, await refsOf(failing));
  const [twin] = await listPayments(world.database, await refsOf(settling));
  if (!first || !twin) throw new Error('no rows');
  const ask = { payer: twin.payer, nonce: twin.nonce, hashes: [], sinceBlock: twin.unusedAtBlock };
  const { sights } = await readSights(world.rpc, world.network, [ask], { atSafe: false });
  const spending = sights[0]?.spending;
  if (spending?.kind !== 'transfer') throw new Error('no evidence');
  const refused = {
    tenantId: first.tenantId,
    paymentId: first.paymentId,
    event: { type: 'refused', reason: 'settlement_failed' },
  } as const;
  const paid = {
    tenantId: twin.tenantId,
    paymentId: twin.paymentId,
    event: { type: 'evidence', transfer: spending.transfer },
  } as const;
  await applyEvents(world.database, [refused, paid]);
  expect(await stateOf(world, waiting)).toMatchObject({ state: 'superseded' });
});

const refsOf = ({ authorization }: { readonly authorization: { readonly nonce: string } }) =>
  world.database.query<{ tenantId: string; paymentId: string }>(
    'select tenant_id as "tenantId", payment_id as "paymentId" from payment where nonce = $1',
    [authorization.nonce],
  );

test('a nonce signed for the price and again for a micro, the micro submitted by the payer, buys nothing and is in no ledger', async () => {
  const authors = newAuthors(1n);
  const payer = await newPayer(world);
  const terms = termsFor(world, authors, { slug: 'two-values' });
  const payment = await paymentFor(world, payer, terms);
  expect((await attempt(world, terms, payment)).code).toBe('settlement_pending');
  const { nonce } = payment.authorization;
  const micro = await signPayment(world.network, payer, { to: terms.payTo, value: 1n, nonce });
  await strangerCalls(world, [{ to: world.network.asset, data: transferCall(micro) }]);
  await sendAll(world);
  await sweep(world, 1);
  expect(await stateOf(world, payment)).toMatchObject({ state: 'failed', reason: 'authorization_invalid' });
  expect(await world.database.query("select 1 from crossing where slug = 'two-values'")).toEqual([]);
  gifts.set(terms.payTo, 1n);
});

test('a watch ends by the time of the safe block, not by our clock: what a slow chain still takes is recorded', async () => {
  const terms = termsFor(world, newAuthors(1n), { slug: 'slow-chain' });
  const payment = await paymentFor(world, await newPayer(world), terms);
  await attempt(world, terms, payment);
  await world.database.query("update test.payment set state = 'failed', reason = 'settlement_failed' where nonce = $1", [
    payment.authorization.nonce,
  ]);
  await mine(world, 80);
  const late = { ...world.deps, now: () => Date.now() + 3_600_000 };
  await sweep(world, 2, late);
  await submitAlone(world, payment);
  await sweep(world, 1, late);
  expect(await stateOf(world, payment)).toMatchObject({ state: 'settled' });
});
