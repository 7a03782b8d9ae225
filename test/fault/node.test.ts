/** Nodes and lines that lie, lose, repeat and refuse: a real chain behind a proxy that does so (faults 7 to 11, 20). */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { applyEvents } from '../../modules/settlement/store/applyEvents.ts';
import { listWatched } from '../../modules/settlement/store/sweep.ts';
import { flushSplits } from '../../modules/settlement/use/relayer/flush.ts';
import { watchAuthorizations } from '../../modules/settlement/use/watch/watch.ts';
import { listBalances } from '../../platform/chain/evidence/states.ts';
import { transactionCount } from '../../platform/chain/transaction.ts';
import {
  age,
  attempt,
  chainCall,
  changed,
  cuttable,
  look,
  mine,
  sendAll,
  spend,
  stateOf,
  submitAlone,
  sweep,
} from '../support/faults.ts';
import { addressOf, newWallet } from '../support/payments.ts';
import { endProxied, startProxied } from '../support/proxied.ts';
import type { RpcProxy } from '../support/rpc-proxy.ts';
import type { SettlementWorld } from '../support/settlement.ts';
import { newAuthors, newPayer, pay, paymentFor, termsFor } from '../support/settlement.ts';

let world: SettlementWorld;
let line: RpcProxy;
beforeEach(async () => {
  ({ world, line } = await startProxied());
});
afterEach(() => endProxied(world, line));

const newPayment = async (slug: string, ...weights: bigint[]) => {
  const terms = termsFor(world, newAuthors(...(weights.length > 0 ? weights : [1n])), { slug });
  const payment = await paymentFor(world, await newPayer(world), terms);
  expect((await attempt(world, terms, payment)).code).toBe('settlement_pending');
  return { terms, payment };
};
const signed = () => world.database.query('select nonce, attempt from relayer_transaction order by nonce, attempt');
const failures = () => world.database.query("select slug from observation where verdict = 'payment-failed'");

test('one authorization as version 1 and as version 2 at the same time is one settlement with one licence', async () => {
  const terms = termsFor(world, newAuthors(2n, 1n), { slug: 'both-versions' });
  const payer = await newPayer(world);
  const v1 = await paymentFor(world, payer, terms);
  const { assetName: name, assetVersion: version } = world.network;
  const accepted = {
    scheme: 'exact',
    network: world.network.id,
    amount: terms.priceMicro,
    asset: terms.asset,
    payTo: terms.payTo,
    extra: { name, version },
  };
  const v2 = { ...v1, x402Version: 2, network: world.network.id, accepted } as const;
  await Promise.all([v1, v2, v1, v2].map((payment) => attempt(world, terms, payment)));
  expect(await world.database.query('select state from payment')).toEqual([{ state: 'accepted' }]);
  await look(world, await sendAll(world));
  const [one, two] = [await pay(world, terms, v1), await pay(world, terms, v2)];
  expect(one).toEqual(two);
  expect(await listBalances(world.rpc, world.network, [addressOf(payer)])).toEqual([999_000n]);
});

test('a line that sends everything twice gets "already known" and "nonce too low" for it, which change nothing', async () => {
  line.set('eth_sendRawTransaction', { kind: 'duplicate', isMinedBetween: true });
  const mined = await newPayment('twice-mined', 1n, 1n);
  await look(world, await sendAll(world));
  expect(await stateOf(world, mined.payment)).toMatchObject({ state: 'settled' });
  const waiting = await newPayment('twice-waiting');
  await chainCall(world, 'evm_setAutomine', false);
  line.set('eth_sendRawTransaction', { kind: 'duplicate', isMinedBetween: false });
  const batchId = await sendAll(world);
  await look(world, batchId);
  expect(await stateOf(world, waiting.payment)).toMatchObject({ state: 'broadcast' });
  await chainCall(world, 'evm_setAutomine', true);
  await mine(world);
  await look(world, batchId);
  expect(await stateOf(world, waiting.payment)).toMatchObject({ state: 'settled' });
  const said = await world.database.query<{ send_result: string }>('select send_result from relayer_transaction order by nonce');
  expect(said.map((row) => row.send_result.split(' ')[0])).toEqual(['nonce_too_low', 'known']);
  expect(await signed()).toHaveLength(2);
});

test('a node that answers 429 and 503 for a while burns no nonce, fails nobody, and all settles when it is well again', async () => {
  const before = await newPayment('before-refusals', 3n, 1n);
  for (const status of [429, 503]) {
    line.set('*', { kind: 'refuse', status });
    for (let round = 0; round < 3; round += 1) await expect(sendAll(world)).rejects.toMatchObject({ code: 'chain_unavailable' });
    expect((await attempt(world, before.terms, before.payment)).code).toMatch(/settlement_pending|chain_unavailable/);
  }
  expect(await signed()).toEqual([]);
  line.set('*', null);
  line.set('eth_sendRawTransaction', { kind: 'refuse', status: 429 });
  const batchId = await sendAll(world);
  await look(world, batchId);
  expect(await stateOf(world, before.payment)).toMatchObject({ state: 'broadcast' });
  line.set('eth_sendRawTransaction', null);
  await look(world, batchId);
  await look(world, batchId);
  expect(await stateOf(world, before.payment)).toMatchObject({ state: 'settled' });
  expect(await signed()).toEqual([{ nonce: '0', attempt: 1 }]);
  expect(await failures()).toEqual([]);
});

test.for([
  ['cut before the node hears of it', { kind: 'cut' }],
  ['cut after it, so that the reply is lost', { kind: 'drop reply' }],
  ['slower than we wait', { kind: 'delay', ms: 3_500 }],
] as const)('a send that is %s is pending and then settled, by the same bytes', async ([, action]) => {
  const { payment } = await newPayment(`send-${action.kind}`, 1n, 2n);
  line.set('eth_sendRawTransaction', action);
  const batchId = await sendAll(world);
  line.set('eth_sendRawTransaction', null);
  await look(world, batchId);
  await look(world, batchId);
  expect(await stateOf(world, payment)).toMatchObject({ state: 'settled' });
  expect(await signed()).toEqual([{ nonce: '0', attempt: 1 }]);
  expect(await failures()).toEqual([]);
});

test('a node that shows a receipt and then none makes nothing flip: one crossing, no correction, and final in the end', async () => {
  const { payment } = await newPayment('flips', 1n, 1n);
  const dear = termsFor(world, newAuthors(1n), { slug: 'flips-dear', priceMicro: 1_000_000n });
  const second = await paymentFor(world, await newPayer(world), dear);
  expect((await attempt(world, dear, second)).code).toBe('settlement_pending');
  line.set('eth_getTransactionReceipt', { kind: 'flip' });
  const batchId = await sendAll(world);
  for (let round = 0; round < 4; round += 1) await look(world, batchId);
  await sweep(world, 3);
  line.set('eth_getTransactionReceipt', null);
  await age(world);
  await sweep(world, 3);
  for (const one of [payment, second]) expect(await stateOf(world, one)).toMatchObject({ state: 'final' });
  expect(await world.database.query('select micro from crossing order by micro')).toEqual([
    { micro: '1000' },
    { micro: '1000000' },
  ]);
  expect(await signed()).toHaveLength(1);
});

/** Burns everything at the router, and mines: what was sent reverts, as with too small a limit. Returns what mends it. */
const breakRouter = async (): Promise<() => Promise<unknown>> => {
  await chainCall(world, 'anvil_dropAllTransactions');
  const router = world.network.router;
  const code = await chainCall<string>(world, 'eth_getCode', router, 'latest');
  await chainCall(world, 'anvil_setCode', router, '0xfe');
  await chainCall(world, 'evm_setAutomine', true);
  return () => chainCall(world, 'anvil_setCode', router, code);
};

test('a batch that reverts for want of gas fails no payment that the chain would take: they go out again in halves, counted as one attempt', async () => {
  const jobs = [await newPayment('gasless-1', 2n, 1n), await newPayment('gasless-2'), await newPayment('gasless-3')];
  const poor = await newPayment('gasless-and-poor');
  await chainCall(world, 'evm_setAutomine', false);
  const batchId = await sendAll(world);
  const mend = await breakRouter();
  await spend(world, poor.payment.authorization.from, newWallet(), 999_500n);
  await look(world, batchId);
  await look(world, batchId);
  await mend();
  for (const { payment } of jobs) expect(await stateOf(world, payment)).toMatchObject({ state: 'accepted', attempts: 1 });
  expect(await stateOf(world, poor.payment)).toMatchObject({ state: 'failed', reason: 'insufficient_funds' });
  // Two of the four at first, then the third.
  for (let round = 0; round < 2; round += 1) await look(world, await sendAll(world));
  const sizes = await world.database.query<{ size: number }>(
    "select count(*)::int as size from payment where state = 'settled' group by batch_id order by 1",
  );
  expect(sizes.map(({ size }) => size)).toEqual([1, 2]);
  for (const { payment } of jobs) expect(await stateOf(world, payment)).toMatchObject({ state: 'settled' });
  expect(await world.database.query('select payer, strikes::int from payer_strike')).toEqual([
    { payer: poor.payment.authorization.from, strikes: 1 },
  ]);
});

test('a payment of several authors whose transaction reverts with nothing else in it fails, is struck, and never goes out again', async () => {
  const { payment } = await newPayment('alone-in-vain', 2n, 1n);
  await chainCall(world, 'evm_setAutomine', false);
  const batchId = await sendAll(world);
  const mend = await breakRouter();
  await look(world, batchId);
  await look(world, batchId);
  await mend();
  expect(await stateOf(world, payment)).toMatchObject({ state: 'failed', reason: 'settlement_failed' });
  await sweep(world, 1);
  expect(await world.database.query('select 1 from relayer_transaction')).toHaveLength(1);
  const strikes = await world.database.query<{ strikes: number }>('select strikes from payer_strike where payer = $1', [
    payment.authorization.from,
  ]);
  expect(strikes.map((row) => Number(row.strikes))).toEqual([1]);
});

test('a payment that a stranger submits between our send and our block is settled by his hash: that our item failed says nothing', async () => {
  const jobs = [await newPayment('overtaken', 3n, 2n), await newPayment('beside')];
  await chainCall(world, 'evm_setAutomine', false);
  const batchId = await sendAll(world);
  await chainCall(world, 'anvil_dropAllTransactions');
  await chainCall(world, 'evm_setAutomine', true);
  const [first, second] = jobs;
  if (!first || !second) throw new Error('no payments');
  const hash = await submitAlone(world, first.payment);
  await look(world, batchId);
  await look(world, batchId);
  expect(await stateOf(world, first.payment)).toMatchObject({ state: 'settled', tx_hash: hash });
  expect(await stateOf(world, second.payment)).toMatchObject({ state: 'settled' });
  expect(await failures()).toEqual([]);
  expect(await flushSplits(world.deps, world.network.id)).toBe(1);
  await sweep(world, 2);
  const [relayer] = world.deps.relayersOf(world.network.id);
  expect(await transactionCount(world.rpc, relayer?.address ?? '0x', 'latest')).toBe(2);
});

test('five payments that the node gives no answer for keep the sixth from no round: it is first in the next one', async () => {
  for (let made = 0; made < 6; made += 1) {
    const { payment } = await newPayment(`unanswered-${made}`);
    const [row] = await world.database.query<{ payment_id: string }>('select payment_id from payment where nonce = $1', [
      payment.authorization.nonce,
    ]);
    const event = { type: 'refused', reason: 'settlement_failed' } as const;
    await applyEvents(world.database, [{ tenantId: world.tenantId, paymentId: row?.payment_id ?? '', event }]);
    await submitAlone(world, payment);
  }
  const inOrder = await listWatched(world.database, world.network.id, 10, 0);
  expect(inOrder).toHaveLength(6);
  const silent = inOrder.slice(0, 5).map(({ nonce }) => nonce);
  const rpc = cuttable(world.rpc);
  rpc.cut.before = (method, params) => method === 'eth_getLogs' && silent.some((nonce) => JSON.stringify(params).includes(nonce));
  const deps = changed(world, { rpcOf: () => rpc });
  for (let round = 0; round < 2; round += 1) await watchAuthorizations(deps, world.network.id);
  const states = async () => {
    const rows = await world.database.query<{ nonce: string; state: string }>('select nonce, state from payment');
    return new Map(rows.map((row) => [row.nonce, row.state]));
  };
  const now = await states();
  expect(inOrder.map(({ nonce }) => now.get(nonce))).toEqual([...silent.map(() => 'failed'), 'settled']);
  await watchAuthorizations(world.deps, world.network.id);
  expect([...(await states()).values()]).toEqual(inOrder.map(() => 'settled'));
});
