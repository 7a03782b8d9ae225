/** One of two nodes says no: before a payment is sent, of an author, of a nonce, or yes to a signature. It takes two. */
import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { listWaiting } from '../../modules/settlement/store/queue.ts';
import { flushSplits } from '../../modules/settlement/use/relayer/flush.ts';
import { recheckPayees } from '../../modules/settlement/use/watch/payees.ts';
import { findBlockedPayees } from '../../platform/chain/router/payees.ts';
import {
  age,
  attempt,
  block,
  chainCall,
  letPostponedReturn,
  look,
  mine,
  sendAll,
  spend,
  stateOf,
  submitAlone,
  sweep,
} from '../support/faults.ts';
import { checkInvariants } from '../support/invariants.ts';
import { addressOf, newAccount, newWallet } from '../support/payments.ts';
import type { RpcProxy } from '../support/rpc-proxy.ts';
import type { SettlementWorld } from '../support/settlement.ts';
import { newAuthors, newPayer, pay, paymentFor, startOnTwoNodes, termsFor } from '../support/settlement.ts';

let world: SettlementWorld;
let line: RpcProxy;
let other: RpcProxy;
beforeEach(async () => {
  ({ world, line, other } = await startOnTwoNodes());
  await mine(world, 5);
});
afterEach(async () => {
  for (const node of [line, other]) node.set('eth_call', null);
  await checkInvariants(world);
  await Promise.all([world.close(), line.close(), other.close()]);
});

const word = (value: number | bigint): string => value.toString(16).padStart(64, '0');
/** One result of several reads in a call: whether it passed, where its bytes begin, and their words. */
const result = (passed: 0 | 1, ...words: readonly (number | bigint)[]): string =>
  [passed, 0x40, 32 * words.length, ...words].map(word).join('');
/** The first node tells another result than the chain's. */
const tell = (from: string, to: string): void =>
  line.set('eth_call', { kind: 'alter', change: (reply) => reply.replaceAll(from, to) });
/** The first node says of calls that return these words that they revert. */
const revertOf = (...words: readonly number[]): void => {
  const returned = `"result":"0x${words.map(word).join('')}"`;
  const error = { code: 3, message: 'execution reverted', data: '0x' };
  const change = (reply: string): string => (reply.includes(returned) ? JSON.stringify({ jsonrpc: '2.0', id: 1, error }) : reply);
  line.set('eth_call', { kind: 'alter', change });
};

/** A payment that was taken in and waits for its batch. */
async function taken(slug: string, authors = newAuthors(1n)) {
  const terms = termsFor(world, authors, { slug });
  const payer = await newPayer(world, 5_000n);
  const payment = await paymentFor(world, payer, terms);
  expect((await attempt(world, terms, payment)).code).toBe('settlement_pending');
  return { terms, payer, payment };
}

/** Code that confirms any signature. */
const YES_CODE = '0x631626ba7e60e01b60005260206000f3';
/** Payments of wallets of code, three each: their gas caps fill a batch with fewer. */
const MORE_THAN_A_BATCH = 45;

const markedPayees = () => world.database.query('select pay_to from blocked_payee');

test('a node that refuses a transfer and shows no money fails no sale that was taken in: the other one takes it, and it is sent', async () => {
  const { terms, payment } = await taken('refused-by-one');
  const lie = (reply: string): string => reply.replaceAll(result(1), result(0)).replaceAll(result(1, 5_000), result(1, 0));
  line.set('eth_call', { kind: 'alter', change: lie });
  await look(world, await sendAll(world));
  expect(await pay(world, terms, payment)).toMatchObject({ chargedMicro: 1_000n });
});

test('a sale of which nothing is refused asks its node seven questions of state, and no node for a second word', async () => {
  const before = line.count('eth_call');
  const { terms, payment } = await taken('nothing-refused', newAuthors(1n, 1n));
  await look(world, await sendAll(world));
  expect(await pay(world, terms, payment)).toMatchObject({ chargedMicro: 1_000n });
  expect(line.count('eth_call') - before).toBe(7);
});

test('a payer whose money has left is refused by two nodes; while one answers alone, the payment waits and the others of its batch are sent', async () => {
  const { payer, payment } = await taken('money-left');
  const besides = await taken('money-there');
  await spend(world, addressOf(payer), newWallet(), 4_500n);
  other.set('eth_call', { kind: 'cut' });
  await look(world, await sendAll(world));
  expect(await stateOf(world, payment)).toMatchObject({ state: 'accepted' });
  expect(await stateOf(world, besides.payment)).toMatchObject({ state: 'settled' });
  other.set('eth_call', null);
  await world.rpc.nodes?.();
  await letPostponedReturn(world);
  await sendAll(world);
  expect(await stateOf(world, payment)).toMatchObject({ state: 'failed', reason: 'insufficient_funds' });
});

test('a node that calls the nonce of an accepted payment used does not hold it up', async () => {
  const { terms, payment } = await taken('used-says-one');
  tell(result(1, 0), result(1, 1));
  await look(world, await sendAll(world));
  line.set('eth_call', null);
  await sweep(world, 1);
  expect(await pay(world, terms, payment)).toMatchObject({ chargedMicro: 1_000n });
});

test('an accepted payment that a stranger executes is proven by its log while the second node is away', async () => {
  const { terms, payment } = await taken('executed-meanwhile');
  await submitAlone(world, payment);
  await mine(world);
  other.set('eth_call', { kind: 'cut' });
  await sendAll(world);
  expect(await pay(world, terms, payment)).toMatchObject({ chargedMicro: 1_000n });
});

test('a node that executes an authorization itself and then shows no money fails no sale: the other one calls its nonce used, and its log proves it', async () => {
  const { terms, payment } = await taken('executed-by-the-liar');
  await submitAlone(world, payment);
  await mine(world);
  const lie = (reply: string): string => reply.replaceAll(result(1, 1), result(1, 0)).replaceAll(result(1, 4_000), result(1, 0));
  line.set('eth_call', { kind: 'alter', change: lie });
  await sendAll(world);
  expect((await stateOf(world, payment))?.state).not.toBe('failed');
  line.set('eth_call', null);
  await letPostponedReturn(world);
  await sendAll(world);
  expect(await pay(world, terms, payment)).toMatchObject({ chargedMicro: 1_000n });
});

test('a wallet of code is refused by two nodes that say it reverts, and sent where one alone says so', async () => {
  const { terms, payer, payment } = await taken('code-says-one');
  await chainCall(world, 'anvil_setCode', addressOf(payer), YES_CODE);
  revertOf();
  await look(world, await sendAll(world));
  line.set('eth_call', null);
  await sweep(world, 1);
  expect(await pay(world, terms, payment)).toMatchObject({ chargedMicro: 1_000n });
  const second = await taken('code-says-no');
  await chainCall(world, 'anvil_setCode', addressOf(second.payer), '0x60006000fd');
  await sendAll(world);
  expect(await stateOf(world, second.payment)).toMatchObject({ state: 'failed', reason: 'authorization_invalid' });
});

test('payments of wallets of code that wait for a second node hold up no plain sale: the next look of the same choice sends it', async () => {
  await taken('plain-before');
  await look(world, await sendAll(world)); // the last batch is plain, so it is the turn of wallets of code
  for (let wallet = 0; wallet < MORE_THAN_A_BATCH / 3; wallet += 1) {
    const payer = await newPayer(world, 5_000n);
    await chainCall(world, 'anvil_setCode', addressOf(payer), YES_CODE);
    for (const page of ['first', 'second', 'third']) {
      const terms = termsFor(world, newAuthors(1n), { slug: `wallet-${wallet}-${page}` });
      const payment = await paymentFor(world, newAccount(), terms, { from: addressOf(payer) });
      expect((await attempt(world, terms, payment)).code).toBe('settlement_pending');
    }
    await chainCall(world, 'anvil_setCode', addressOf(payer), '0x60006000fd');
  }
  const behind = await taken('plain-behind');
  other.set('eth_call', { kind: 'cut' });
  await look(world, await sendAll(world));
  expect(await stateOf(world, behind.payment)).toMatchObject({ state: 'settled' });
  // It came before the wallets of code that did not fit its first look.
  const unseen = "select from payment where payer_kind = 'contract' and state = 'accepted' and checked_at is null";
  expect(await world.database.query(unseen)).not.toHaveLength(0);
});

test('payments that come out short while one node answers leave the window of their site to the sales behind them', async () => {
  const payer = await newPayer(world, 32_000n);
  for (let page = 0; page < 32; page += 1) {
    const terms = termsFor(world, newAuthors(1n), { slug: `short-${page}` });
    expect((await attempt(world, terms, await paymentFor(world, payer, terms))).code).toBe('settlement_pending');
  }
  await spend(world, addressOf(payer), newWallet(), 32_000n);
  other.set('eth_call', { kind: 'cut' });
  const waitingCount = async () => (await listWaiting(world.database, world.network.id, randomUUID())).length;
  expect(await waitingCount()).toBe(32);
  await sendAll(world);
  expect(await waitingCount()).toBe(0);
  await letPostponedReturn(world);
  expect(await waitingCount()).toBe(32);
});

test('a node that says authors cannot be paid marks nobody and fails no sale; two nodes do', async () => {
  const [split, blocked] = [await taken('split-says-one', newAuthors(1n, 1n)), newAuthors(1n, 1n)];
  tell(result(1, 1_000), result(0, 1_000));
  await look(world, await sendAll(world));
  line.set('eth_call', null);
  expect(await stateOf(world, split.payment)).toMatchObject({ state: 'settled' });
  expect(await markedPayees()).toEqual([]);
  const { payment, terms } = await taken('split-says-two', blocked);
  await block(world, blocked[0]?.wallet ?? '');
  other.set('eth_call', { kind: 'cut' });
  await sendAll(world);
  expect([await stateOf(world, payment), await markedPayees()]).toMatchObject([{ state: 'accepted' }, []]);
  other.set('eth_call', null);
  await world.rpc.nodes?.();
  await letPostponedReturn(world);
  await sendAll(world);
  expect(await stateOf(world, payment)).toMatchObject({ state: 'failed', reason: 'settlement_failed' });
  expect(await markedPayees()).toEqual([{ pay_to: terms.payTo }]);
  await block(world, blocked[0]?.wallet ?? '', false);
  // The first one goes on saying that the wallet cannot be paid: the other one lifts the mark.
  line.set('eth_call', { kind: 'alter', change: (reply) => reply.replace(/(.*)0{63}1(0{62}400{62}200{63}1)/, `$1${word(0)}$2`) });
  await recheckPayees(world.deps, world.network.id);
  expect(await markedPayees()).toEqual([]);
});

test('a wallet is blocked where two nodes refuse to pay it, not known to be where one does alone', async () => {
  const { wallet } = newAuthors(1n)[0] as { wallet: `0x${string}` };
  const find = () => findBlockedPayees(world.rpc, world.network, [wallet]);
  line.set('eth_call', { kind: 'alter', change: (reply) => reply.replace(/(.*)0{63}1(0{62}400{62}200{63}1)/, `$1${word(0)}$2`) });
  expect(await find()).toEqual([]);
  line.set('eth_call', null);
  await block(world, wallet);
  expect(await find()).toEqual([wallet]);
  other.set('eth_call', { kind: 'cut' });
  expect(await find()).toBeNull();
});

test('a node that says a split cannot be paid out marks nobody: the other one is asked, and it is paid out', async () => {
  const { payment } = await taken('flush-says-one', newAuthors(1n, 1n));
  await submitAlone(world, payment);
  await age(world);
  await sweep(world, 2);
  revertOf(1_000);
  expect(await flushSplits(world.deps, world.network.id)).toBe(1);
  line.set('eth_call', null);
  expect(await markedPayees()).toEqual([]);
  await sweep(world, 2);
  expect((await stateOf(world, payment))?.state).toMatch(/settled|final/);
});

test('a nonce is used before its payment by the word of two nodes: one alone refuses nothing, and nothing is taken in while they are at odds', async () => {
  const terms = termsFor(world, newAuthors(1n), { slug: 'nonce-says-one' });
  const payment = await paymentFor(world, await newPayer(world, 5_000n), terms);
  tell(result(1, 0), result(1, 1));
  expect((await attempt(world, terms, payment)).code).toBe('chain_unavailable');
  line.set('eth_call', null);
  expect((await attempt(world, terms, payment)).code).toBe('settlement_pending');
  await look(world, await sendAll(world));
  const elsewhere = termsFor(world, newAuthors(1n), { slug: 'nonce-say-two' });
  const used = await paymentFor(world, await newPayer(world, 5_000n), elsewhere);
  await submitAlone(world, used);
  other.set('eth_call', { kind: 'cut' });
  expect((await attempt(world, elsewhere, used)).code).toBe('chain_unavailable');
  other.set('eth_call', null);
  await world.rpc.nodes?.();
  expect((await attempt(world, elsewhere, used)).code).toBe('authorization_invalid');
  expect(await stateOf(world, used)).toBeNull();
});

test('who shows a paid payment under a signature of his own gets its page by the word of two nodes, never of one', async () => {
  const { terms, payer, payment } = await taken('paid-by-another');
  await look(world, await sendAll(world));
  expect(await pay(world, terms, payment)).toMatchObject({ chargedMicro: 1_000n });
  const { signature } = await paymentFor(world, newAccount(), terms, { from: addressOf(payer) });
  const stolen = { ...payment, signature };
  // The first node says that the payer has code, and that it confirms.
  const yes = (reply: string): string =>
    reply
      .replace(/"result":"0x0{64}"/, `"result":"0x${word(23)}"`)
      .replace('"result":"0x"', `"result":"0x1626ba7e${'0'.repeat(56)}"`);
  line.set('eth_call', { kind: 'alter', change: yes });
  expect((await attempt(world, terms, stolen)).code).toBe('authorization_invalid');
  other.set('eth_call', { kind: 'cut' });
  expect((await attempt(world, terms, stolen)).code).toBe('chain_unavailable');
  for (const node of [line, other]) node.set('eth_call', null);
  await world.rpc.nodes?.();
  expect((await attempt(world, terms, stolen)).code).toBe('authorization_invalid');
  await chainCall(world, 'anvil_setCode', addressOf(payer), YES_CODE);
  expect(await pay(world, terms, stolen)).toMatchObject({ chargedMicro: 1_000n });
});
