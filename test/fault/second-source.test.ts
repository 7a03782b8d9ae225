/** One of two nodes lies about a receipt, keeps what it is sent to itself, or has no receipts: what the other one shows counts. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readChain } from '../../modules/reconciliation/use/readChain.ts';
import { findBalance } from '../../modules/settlement/use/accept/intake.ts';
import { confirmBatch } from '../../modules/settlement/use/batch/confirm.ts';
import { listBalances } from '../../platform/chain/evidence/states.ts';
import { age, attempt, chainCall, changed, look, mine, sendAll, spend, stateOf, submitAlone, sweep } from '../support/faults.ts';
import { checkInvariants } from '../support/invariants.ts';
import { addressOf, newWallet } from '../support/payments.ts';
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
  for (const node of [line, other]) node.set('eth_sendRawTransaction', null);
  for (const method of [...REPLIES, 'eth_blockNumber', 'eth_getBlockByNumber']) line.set(method, null);
  for (const method of ['*', ...REPLIES]) other.set(method, null);
  await checkInvariants(world);
  await Promise.all([world.close(), line.close(), other.close()]);
});

const REPLIES = ['eth_getTransactionReceipt', 'eth_getLogs', 'eth_call'];

/** The first node shows that each transfer went somewhere else. */
const lieAboutRecipients = (payTo: string): void => {
  const [told, lie] = [payTo.slice(2).toLowerCase(), 'ab'.repeat(20)];
  line.set('eth_getTransactionReceipt', { kind: 'alter', change: (reply) => reply.replaceAll(told, lie) });
};

test('a node that alters the logs of a receipt makes no paid sale failed: it waits, and is settled once the node is well', async () => {
  const terms = termsFor(world, newAuthors(1n), { slug: 'altered-logs' });
  const payment = await paymentFor(world, await newPayer(world, 5_000n), terms);
  expect((await attempt(world, terms, payment)).code).toBe('settlement_pending');
  lieAboutRecipients(terms.payTo);
  await look(world, await sendAll(world));
  await mine(world, 40);
  await sweep(world, 2);
  expect(await stateOf(world, payment)).toMatchObject({ state: 'broadcast' });
  expect(await world.database.query('select distinct kind from operator_alert')).toEqual([{ kind: 'evidence_disputed' }]);
  expect(await listBalances(world.rpc, world.network, [terms.legs[0]?.toAddress ?? '0x'])).toEqual([1_000n]);
  line.set('eth_getTransactionReceipt', null);
  await sweep(world, 2);
  expect(await pay(world, terms, payment)).toMatchObject({ chargedMicro: 1_000n });
});

test('what one node shows is contradicted by one that has no receipt, at the safe block too: nothing is decided', async () => {
  const terms = termsFor(world, newAuthors(1n), { slug: 'no-receipt-there' });
  const payment = await paymentFor(world, await newPayer(world, 5_000n), terms);
  await attempt(world, terms, payment);
  lieAboutRecipients(terms.payTo);
  other.set('eth_getTransactionReceipt', { kind: 'nothing', result: null });
  await look(world, await sendAll(world));
  await mine(world, 40);
  await world.rpc.newestBlock?.();
  await sweep(world, 2);
  expect(await stateOf(world, payment)).toMatchObject({ state: 'broadcast' });
  expect(await world.database.query('select distinct kind from operator_alert')).toEqual([{ kind: 'evidence_disputed' }]);
  line.set('eth_getTransactionReceipt', null);
  other.set('eth_getTransactionReceipt', null);
  await sweep(world, 2);
  expect(await pay(world, terms, payment)).toMatchObject({ chargedMicro: 1_000n });
});

test('safe is what two nodes call safe: what one alone shows above it fails no paid sale', async () => {
  const terms = termsFor(world, newAuthors(1n), { slug: 'safe-of-two' });
  const payment = await paymentFor(world, await newPayer(world, 5_000n), terms);
  await attempt(world, terms, payment);
  lieAboutRecipients(terms.payTo);
  other.set('*', { kind: 'behind', blocks: 30 });
  other.set('eth_getTransactionReceipt', { kind: 'cut' }); // it contradicts nobody
  await look(world, await sendAll(world));
  await mine(world, 20);
  await world.rpc.newestBlock?.();
  await sweep(world, 2);
  expect(await stateOf(world, payment)).toMatchObject({ state: 'broadcast' });
  line.set('eth_getTransactionReceipt', null);
  for (const method of ['*', 'eth_getTransactionReceipt']) other.set(method, null);
  await sweep(world, 2);
  expect(await pay(world, terms, payment)).toMatchObject({ chargedMicro: 1_000n });
});

test('a node that alters the logs of what proved a sale takes nothing back', async () => {
  const terms = termsFor(world, newAuthors(1n), { slug: 'altered-later' });
  const payment = await paymentFor(world, await newPayer(world, 5_000n), terms);
  await attempt(world, terms, payment);
  await look(world, await sendAll(world));
  expect(await stateOf(world, payment)).toMatchObject({ state: 'settled' });
  lieAboutRecipients(terms.payTo);
  await sweep(world, 2);
  line.set('eth_getTransactionReceipt', { kind: 'nothing', result: null });
  await sweep(world, 2);
  expect(await stateOf(world, payment)).toMatchObject({ state: 'settled' });
});

test('a sale of one dollar is settled by two nodes, or at the safe block, never by the word of one', async () => {
  const terms = termsFor(world, newAuthors(1n), { slug: 'a-dollar', priceMicro: 1_000_000n });
  const payment = await paymentFor(world, await newPayer(world, 2_000_000n), terms);
  await attempt(world, terms, payment);
  const swap = (reply: string): string => reply.replaceAll(/"blockHash":"0x[0-9a-f]{8}/g, '"blockHash":"0xdeadbeef');
  line.set('eth_getTransactionReceipt', { kind: 'alter', change: swap });
  const batch = await sendAll(world);
  await mine(world, 3);
  await look(world, batch);
  expect(await stateOf(world, payment)).toMatchObject({ state: 'broadcast' });
  line.set('eth_getTransactionReceipt', null);
  await sweep(world, 2);
  expect((await stateOf(world, payment))?.state).toMatch(/settled|final/);
});

test('what a node takes and drops is mined through the other, and a receipt that it does not have is read there', async () => {
  const terms = termsFor(world, newAuthors(1n), { slug: 'dropped' });
  const payment = await paymentFor(world, await newPayer(world, 5_000n), terms);
  await attempt(world, terms, payment);
  line.set('eth_sendRawTransaction', { kind: 'nothing', result: `0x${'ab'.repeat(32)}` });
  line.set('eth_getTransactionReceipt', { kind: 'nothing', result: null });
  await sendAll(world);
  await sweep(world, 2);
  expect((await stateOf(world, payment))?.state).toMatch(/settled|final/);
  expect(await listBalances(world.rpc, world.network, [terms.legs[0]?.toAddress ?? '0x'])).toEqual([1_000n]);
});

test('a payer is refused for want of money only where no node shows it; one that shows none refuses nobody', async () => {
  const terms = termsFor(world, newAuthors(1n), { slug: 'no-money-there' });
  const payer = await newPayer(world, terms.priceMicro);
  // Of whatever is asked in one call, the first node says that there is nothing; a nonce is unused that way, and a balance 0.
  const emptied = (reply: string): string => reply.replaceAll(terms.priceMicro.toString(16).padStart(64, '0'), '0'.repeat(64));
  line.set('eth_call', { kind: 'alter', change: emptied });
  expect(await findBalance(world.rpc, { network: world.network, account: addressOf(payer) })).toBe(0n);
  expect((await attempt(world, terms, await paymentFor(world, payer, terms))).code).toBe('settlement_pending');
  const poor = await paymentFor(world, await newPayer(world, terms.priceMicro - 1n), terms);
  expect((await attempt(world, terms, poor)).code).toBe('insufficient_funds');
  line.set('eth_call', null);
});

/** A sale that was paid and failed, since one node lied and no other was asked; the node is well again, `blocks` later. */
async function failByLie(slug: string, blocks: number) {
  const terms = termsFor(world, newAuthors(1n), { slug });
  const payment = await paymentFor(world, await newPayer(world, 5_000n), terms);
  await attempt(world, terms, payment);
  lieAboutRecipients(terms.payTo);
  // As if there were no other node: its word is all there is.
  const { urlCount: _, ...alone } = world.rpc;
  const deps = changed(world, { rpcOf: () => alone });
  await confirmBatch(deps, await sendAll(world), { timeoutMs: 5_000 });
  await mine(world, blocks);
  await sweep(world, 2, deps);
  const [failed] = await world.database.query('select state, watched from payment');
  expect(failed).toEqual({ state: 'failed', watched: false });
  line.set('eth_getTransactionReceipt', null);
  return { terms, payment };
}

test('a stored transfer of a payment that a lie made failed has it judged anew: its page is paid out, and an operator is told', async () => {
  const { terms, payment } = await failByLie('judged-anew', 40);
  await readChain(world.deps, world.network.id);
  const alerts = await world.database.query('select kind from operator_alert');
  expect(alerts).toEqual([{ kind: 'evidence_conflict' }]);
  await sweep(world, 1);
  expect(await pay(world, terms, payment)).toMatchObject({ chargedMicro: 1_000n });
  await readChain(world.deps, world.network.id);
  expect((await stateOf(world, payment))?.state).toMatch(/settled|final/);
});

test('a reconciler that dies with the transfer stored and the payment not yet doubted leaves it to the next round', async () => {
  const { terms, payment } = await failByLie('doubted-next-round', 100);
  const query = (async (text, ...rest) => {
    if (text.includes('from "chain_transfer" as "t"')) throw new Error('the process died');
    return world.database.query(text, ...rest);
  }) as typeof world.database.query;
  // With one node: of several, blocks are compared later, and doubted then.
  const { urlCount: _, ...rpc } = world.rpc;
  const alone = changed(world, { rpcOf: () => rpc });
  const dying = { ...alone, database: { ...world.database, query } };
  await expect(readChain(dying, world.network.id)).rejects.toThrow('the process died');
  expect(await world.database.query('select nonce is not null as has_nonce from chain_transfer')).toContainEqual({
    has_nonce: true,
  });
  expect(await world.database.query('select kind from operator_alert')).not.toContainEqual({ kind: 'evidence_conflict' });
  await readChain(alone, world.network.id);
  await sweep(world, 1);
  expect(await pay(world, terms, payment)).toMatchObject({ chargedMicro: 1_000n });
});

test('a node whose head is a thousand blocks too high moves no mark of the reconciler beyond the chain', async () => {
  const higher = (reply: string): string =>
    reply.replace(/"(result|number)":"(0x[0-9a-f]+)"/, (_, name, hex) => `"${name}":"0x${(Number(hex) + 1_000).toString(16)}"`);
  await mine(world, 40);
  for (const method of ['eth_blockNumber', 'eth_getBlockByNumber']) line.set(method, { kind: 'alter', change: higher });
  await readChain(world.deps, world.network.id);
  const head = Number(await chainCall<string>(world, 'eth_blockNumber'));
  const markOf = async () => Number((await world.database.query('select next_block from chain_cursor'))[0]?.['next_block']);
  expect(await markOf()).toBeLessThanOrEqual(head + 1);
  await world.database.query('update chain_cursor set next_block = 5000');
  for (const method of ['eth_blockNumber', 'eth_getBlockByNumber']) line.set(method, null);
  await readChain(world.deps, world.network.id);
  expect(await markOf()).toBeLessThanOrEqual(head + 1);
});

/** A payment whose bytes both nodes drop; what was signed is good for a minute. */
async function sentToNobody(slug: string) {
  const terms = termsFor(world, newAuthors(1n), { slug });
  const payment = await paymentFor(world, await newPayer(world, 5_000n), terms);
  await attempt(world, terms, payment);
  for (const node of [line, other]) node.set('eth_sendRawTransaction', { kind: 'nothing', result: `0x${'ab'.repeat(32)}` });
  const batch = await sendAll(world);
  await age(world);
  return { terms, payment, batch };
}

/** The times of blocks in a reply, wherever they stand in it, a day later; the block itself is the one before. */
const aDayLater = (reply: string): string =>
  reply
    .replace(/"timestamp":"(0x[0-9a-f]+)"/, (_, hex) => `"timestamp":"0x${(Number(hex) + 86_400).toString(16)}"`)
    .replace(/"number":"(0x[0-9a-f]+)"/, (_, hex) => `"number":"0x${(Number(hex) - 1).toString(16)}"`)
    .replaceAll(/0{56}(6[0-9a-f]{7})/g, (_, hex) => (Number(`0x${hex}`) + 86_400).toString(16).padStart(64, '0'));

test('a node whose clock is a day ahead ends no authorization that the other one would still take', async () => {
  const { terms, payment } = await sentToNobody('a-day-ahead');
  for (const method of ['eth_getBlockByNumber', 'eth_call']) line.set(method, { kind: 'alter', change: aDayLater });
  await world.rpc.nodes?.();
  await sweep(world, 2);
  expect(await stateOf(world, payment)).toMatchObject({ state: 'broadcast' });
  expect(await world.database.query('select distinct kind from operator_alert')).toContainEqual({ kind: 'evidence_disputed' });
  for (const method of ['eth_getBlockByNumber', 'eth_call']) line.set(method, null);
  for (const node of [line, other]) node.set('eth_sendRawTransaction', null);
  await sweep(world, 2);
  expect(await pay(world, terms, payment)).toMatchObject({ chargedMicro: 1_000n });
});

/** Each authorization is unused, for the node that says so. */
const unused = (reply: string): string => {
  const before = '40'.padStart(64, '0') + '20'.padStart(64, '0');
  return reply.replaceAll(before + '1'.padStart(64, '0'), before + '0'.repeat(64));
};

/** Its payer, or anybody, has the authorization executed; then its time ends. The first node hides that it was used. */
async function usedAndHidden(slug: string) {
  const sale = await sentToNobody(slug);
  await submitAlone(world, sale.payment);
  for (const method of ['eth_getTransactionReceipt', 'eth_getLogs']) line.set(method, { kind: 'nothing', result: null });
  line.set('eth_call', { kind: 'alter', change: unused });
  await chainCall(world, 'evm_increaseTime', 7_200);
  await mine(world, 40);
  await world.rpc.nodes?.();
  return sale;
}

test('a node that calls a used authorization unused has no paid sale expire: the other one is asked, too', async () => {
  const { terms, payment } = await usedAndHidden('used-unused');
  await sweep(world, 2);
  expect(await stateOf(world, payment)).toMatchObject({ state: 'broadcast' });
  expect(await world.database.query('select distinct kind from operator_alert')).toContainEqual({ kind: 'evidence_disputed' });
  for (const method of REPLIES) line.set(method, null);
  for (const node of [line, other]) node.set('eth_sendRawTransaction', null);
  await sweep(world, 2);
  expect(await pay(world, terms, payment)).toMatchObject({ chargedMicro: 1_000n });
});

test('a node that says our transaction reverted has no paid sale fail: the other one shows what it moved', async () => {
  const terms = termsFor(world, newAuthors(1n), { slug: 'said-to-revert' });
  const payment = await paymentFor(world, await newPayer(world, 5_000n), terms);
  await attempt(world, terms, payment);
  const batch = await sendAll(world);
  const reverted = (reply: string): string =>
    reply.replaceAll(/"status":"0x1"/g, '"status":"0x0"').replace(/"logs":\[.*?\}\]/, '"logs":[]');
  line.set('eth_getTransactionReceipt', { kind: 'alter', change: reverted });
  line.set('eth_call', { kind: 'alter', change: unused });
  await look(world, batch);
  await sweep(world, 2);
  expect(await stateOf(world, payment)).toMatchObject({ state: 'broadcast' });
  expect(await world.database.query('select distinct kind from operator_alert')).toEqual([{ kind: 'evidence_disputed' }]);
  for (const method of REPLIES) line.set(method, null);
  await sweep(world, 2);
  expect(await pay(world, terms, payment)).toMatchObject({ chargedMicro: 1_000n });
});

/** A payment whose payer spent the money before our transaction was mined. */
async function notMoved(slug: string) {
  const terms = termsFor(world, newAuthors(1n), { slug });
  const payer = await newPayer(world, 1_000n);
  const payment = await paymentFor(world, payer, terms);
  await attempt(world, terms, payment);
  for (const node of [line, other]) node.set('eth_sendRawTransaction', { kind: 'nothing', result: `0x${'ab'.repeat(32)}` });
  const batch = await sendAll(world);
  await spend(world, addressOf(payer), newWallet(), 900n);
  for (const node of [line, other]) node.set('eth_sendRawTransaction', null);
  return { payment, batch };
}

test('a sale that our transaction did not move fails by the word of two nodes, not before the second has its receipt', async () => {
  const { payment, batch } = await notMoved('did-not-move');
  other.set('eth_getTransactionReceipt', { kind: 'nothing', result: null });
  await look(world, batch);
  await look(world, batch);
  expect(await stateOf(world, payment)).toMatchObject({ state: 'broadcast' });
  other.set('eth_getTransactionReceipt', null);
  await sweep(world, 2);
  expect(await stateOf(world, payment)).toMatchObject({ state: 'failed', reason: 'insufficient_funds' });
});

test('while one node of two gives no receipts, a sale that our transaction did not move fails at the safe block', async () => {
  const { payment, batch } = await notMoved('did-not-move-alone');
  other.set('eth_getTransactionReceipt', { kind: 'cut' });
  await look(world, batch);
  await mine(world, 10);
  await world.rpc.newestBlock?.();
  await sweep(world, 1);
  expect(await stateOf(world, payment)).toMatchObject({ state: 'failed', reason: 'insufficient_funds' });
});

test('a transaction of ours that one node made up, without a transfer, fails no sale: at the safe block the other contradicts it', async () => {
  const { terms, payment, batch } = await sentToNobody('made-up');
  const [{ hash } = { hash: '' }] = await world.database.query<{ hash: string }>(
    'select tx_hash as hash from relayer_transaction',
  );
  const { number, hash: blockHash } = await chainCall<{ number: string; hash: string }>(
    world,
    'eth_getBlockByNumber',
    'latest',
    false,
  );
  const result = { ...{ transactionHash: hash, blockNumber: number, blockHash, status: '0x0' }, gasUsed: '0x5208', logs: [] };
  line.set('eth_getTransactionReceipt', { kind: 'nothing', result });
  await mine(world, 10);
  await world.rpc.newestBlock?.();
  await look(world, batch);
  expect(await stateOf(world, payment)).toMatchObject({ state: 'broadcast' });
  for (const method of REPLIES) line.set(method, null);
  for (const node of [line, other]) node.set('eth_sendRawTransaction', null);
  await sweep(world, 2);
  expect(await pay(world, terms, payment)).toMatchObject({ chargedMicro: 1_000n });
});

test('a node that names a block far above the head hides no log of a sale that a stranger executes: the search begins at the head', async () => {
  await chainCall(world, 'anvil_mine', '0x130');
  await world.rpc.newestBlock?.();
  const above = (reply: string): string =>
    reply.replace(/0{61}(1[3-9a-f][0-9a-f])/, (_, head) => (Number(`0x${head}`) + 200).toString(16).padStart(64, '0'));
  line.set('eth_call', { kind: 'alter', change: above });
  const terms = termsFor(world, newAuthors(1n), { slug: 'block-too-high' });
  const payment = await paymentFor(world, await newPayer(world, 5_000n), terms);
  await attempt(world, terms, payment);
  line.set('eth_call', null);
  await submitAlone(world, payment);
  await chainCall(world, 'anvil_mine', '0x118');
  await world.rpc.newestBlock?.();
  await age(world);
  await sweep(world, 2);
  expect(await pay(world, terms, payment)).toMatchObject({ chargedMicro: 1_000n });
});

test('while the second node is away, nobody says that a sale expired; once it is back, the two do', async () => {
  const { payment } = await sentToNobody('second-away');
  await chainCall(world, 'evm_increaseTime', 7_200);
  await mine(world, 40);
  await world.rpc.nodes?.();
  other.set('eth_call', { kind: 'cut' });
  await sweep(world, 2);
  expect(await stateOf(world, payment)).toMatchObject({ state: 'broadcast' });
  other.set('eth_call', null);
  await sweep(world, 2);
  expect(await stateOf(world, payment)).toMatchObject({ state: 'failed', reason: 'authorization_invalid' });
  for (const node of [line, other]) node.set('eth_sendRawTransaction', null);
  await sweep(world, 2);
});
