/** One node of several gives answers that nobody can read, or that are of something else: what it says stays its own, and the others go on. */
import { afterEach, expect, test, vi } from 'vitest';
import { prepareRelayers } from '../../modules/settlement/use/startWorkflows.ts';
import { listBalances } from '../../platform/chain/evidence/states.ts';
import { age, attempt, chainCall, letPostponedReturn, look, mine, sendAll, spend, stateOf, sweep } from '../support/faults.ts';
import { checkInvariants } from '../support/invariants.ts';
import { addressOf, newWallet } from '../support/payments.ts';
import type { RpcProxy } from '../support/rpc-proxy.ts';
import { startRpcProxy } from '../support/rpc-proxy.ts';
import type { SettlementWorld } from '../support/settlement.ts';
import { newAuthors, newPayer, pay, paymentFor, startSettlement, termsFor } from '../support/settlement.ts';

let world: SettlementWorld;
let lines: readonly RpcProxy[] = [];
afterEach(async () => {
  try {
    for (const line of lines) for (const method of ['*', ...METHODS]) line.set(method, null);
    await world.rpc.nodes?.();
    await checkInvariants(world, { isIdle: false });
  } finally {
    vi.useRealTimers();
    await world.close();
    await Promise.all(lines.map((line) => line.close()));
  }
});

const METHODS = [
  'eth_sendRawTransaction',
  'eth_getTransactionReceipt',
  'eth_call',
  'eth_getTransactionCount',
  'eth_getBlockByNumber',
];

/** So many URLs of one chain; the first is asked first. */
async function start(urls: number): Promise<RpcProxy[]> {
  const started: RpcProxy[] = [];
  world = await startSettlement({
    ...{ automine: true, runBatches: false, waitMs: 50 },
    inFront: async (rpcUrl) => {
      for (let url = 0; url < urls; url += 1) started.push(await startRpcProxy(rpcUrl));
      return started.map(({ url }) => url);
    },
  });
  lines = started;
  await mine(world, 5);
  return started;
}

async function taken(slug: string, priceMicro = 1_000n) {
  const terms = termsFor(world, newAuthors(1n), { slug, priceMicro });
  const payer = await newPayer(world, 5n * priceMicro);
  const payment = await paymentFor(world, payer, terms);
  expect((await attempt(world, terms, payment)).code).toBe('settlement_pending');
  return { terms, payer, payment };
}

/** Blocks go by, and the safe one with them. */
async function pass(blocks = 40): Promise<void> {
  await mine(world, blocks);
  await world.rpc.newestBlock?.();
  await sweep(world, 3);
}

const alerts = async () => await world.database.query('select distinct kind from operator_alert');
const DISPUTED = { kind: 'evidence_disputed' };
type Change = (reply: string) => string;

/** Every transfer to this wallet went to somebody else. */
const elsewhere =
  (payTo: string): Change =>
  (reply) =>
    reply.replaceAll(payTo.slice(2).toLowerCase(), 'ab'.repeat(20));
/** Changes what is asked first of two, and spoils what is asked of every URL afterwards. */
const lieThenSpoil = (lie: Change, spoil: Change): Change => {
  let calls = 0;
  return (reply) => {
    calls += 1;
    return calls % 2 === 1 ? lie(reply) : spoil(reply);
  };
};
const withResult =
  (change: (result: Record<string, unknown>) => object): Change =>
  (reply) => {
    const answer = JSON.parse(reply) as { result: Record<string, unknown> | null };
    return JSON.stringify({ ...answer, result: answer.result && change(answer.result) });
  };
const SPOILS: Readonly<Record<string, Change>> = {
  'a block hash of one digit': (reply) => reply.replace(/"blockHash":"0x[0-9a-f]{64}"/, '"blockHash":"0x1"'),
  'no logs': withResult((result) => ({ ...result, logs: null })),
  'gas that is no number': withResult((result) => ({ ...result, gasUsed: 'zz' })),
};

test.each(Object.entries(SPOILS))(
  'a node that lies of a receipt, and gives %s to the question that all are asked, decides nothing: the other one contradicts it',
  async (_, spoil) => {
    const [line] = await start(2);
    const { terms, payment } = await taken('spoilt');
    line?.set('eth_getTransactionReceipt', { kind: 'alter', change: lieThenSpoil(elsewhere(terms.payTo), spoil) });
    await look(world, await sendAll(world));
    await pass();
    expect(await stateOf(world, payment)).toMatchObject({ state: 'broadcast' });
    expect(await alerts()).toContainEqual(DISPUTED);
    line?.set('eth_getTransactionReceipt', null);
    await sweep(world, 2);
    expect(await pay(world, terms, payment)).toMatchObject({ chargedMicro: 1_000n });
  },
);

test('a settled sale is not taken back by a node that lies of its receipt and spoils the second answer', async () => {
  const [line] = await start(2);
  const { terms, payment } = await taken('spoilt-later');
  await look(world, await sendAll(world));
  expect(await stateOf(world, payment)).toMatchObject({ state: 'settled' });
  await mine(world, 40);
  await world.rpc.newestBlock?.();
  const change = lieThenSpoil(elsewhere(terms.payTo), SPOILS['a block hash of one digit'] as Change);
  line?.set('eth_getTransactionReceipt', { kind: 'alter', change });
  await sweep(world, 3);
  expect((await stateOf(world, payment))?.state).toMatch(/^(settled|final)$/);
});

test('a receipt under the hash of another transaction is none: nobody else could be asked for that one', async () => {
  const [line] = await start(2);
  const { terms, payment } = await taken('another-hash');
  const batch = await sendAll(world);
  const other: Change = (reply) => {
    const hash = /"transactionHash":"0x([0-9a-f]{64})"/.exec(reply)?.[1];
    return hash === undefined ? reply : elsewhere(terms.payTo)(reply).replaceAll(hash, 'cd'.repeat(32));
  };
  line?.set('eth_getTransactionReceipt', { kind: 'alter', change: other });
  await look(world, batch);
  await pass();
  expect((await stateOf(world, payment))?.state).toMatch(/^(settled|final)$/);
});

test.each([0, 2])(
  'of three nodes one lies, at place %i: what the other two show settles a sale of a dollar, and an operator is told',
  async (place) => {
    const nodes = await start(3);
    const { terms, payment } = await taken('three', 1_000_000n);
    nodes[place]?.set('eth_getTransactionReceipt', { kind: 'alter', change: elsewhere(terms.payTo) });
    await look(world, await sendAll(world));
    await pass();
    expect((await stateOf(world, payment))?.state).toMatch(/^(settled|final)$/);
    expect(await alerts()).toContainEqual(DISPUTED);
    expect(await listBalances(world.rpc, world.network, [terms.legs[0]?.toAddress ?? '0x'])).toEqual([1_000_000n]);
  },
);

test('of three nodes the first lies of a receipt and spoils its second answer: the two that show the same settle the sale', async () => {
  const [line] = await start(3);
  const { terms, payment } = await taken('three-spoilt');
  const hide = withResult(() => ({}));
  line?.set('eth_getTransactionReceipt', { kind: 'alter', change: lieThenSpoil(elsewhere(terms.payTo), hide) });
  await look(world, await sendAll(world));
  await pass();
  expect((await stateOf(world, payment))?.state).toMatch(/^(settled|final)$/);
});

test('an authorization ends by the word of two nodes of three, whatever the third one says, and an operator is told', async () => {
  const nodes = await start(3);
  for (const node of nodes) node.set('eth_sendRawTransaction', { kind: 'nothing', result: `0x${'ab'.repeat(32)}` });
  const { payment } = await taken('ends-by-two');
  await sendAll(world);
  await age(world);
  const before = '40'.padStart(64, '0') + '20'.padStart(64, '0');
  const used: Change = (reply) => reply.replaceAll(before + '0'.repeat(64), before + '1'.padStart(64, '0'));
  nodes[2]?.set('eth_call', { kind: 'alter', change: used });
  await chainCall(world, 'evm_increaseTime', 7_200);
  await mine(world, 40);
  await world.rpc.nodes?.();
  await sweep(world, 2);
  expect(await stateOf(world, payment)).toMatchObject({ state: 'failed', reason: 'authorization_invalid' });
  expect(await alerts()).toContainEqual(DISPUTED);
});

test('a second word that nobody can read keeps no batch from being sent', async () => {
  const [, second] = await start(2);
  const [poor, good] = [await taken('money-left'), await taken('money-there')];
  await spend(world, addressOf(poor.payer), newWallet(), 4_500n);
  const change: Change = (reply) => reply.replaceAll((500).toString(16).padStart(64, '0'), 'z'.repeat(64));
  second?.set('eth_call', { kind: 'alter', change });
  for (let turn = 0; turn < 3; turn += 1) {
    await look(world, await sendAll(world));
    await letPostponedReturn(world);
  }
  expect((await stateOf(world, good.payment))?.state).toMatch(/^(settled|final)$/);
});

test('a second word that is an error of the EVM where nothing can be refused keeps no batch from being sent', async () => {
  const [, second] = await start(2);
  const [poor, good] = [await taken('money-gone'), await taken('money-here')];
  await spend(world, addressOf(poor.payer), newWallet(), 4_500n);
  const change: Change = (reply) =>
    JSON.stringify({ jsonrpc: '2.0', id: JSON.parse(reply).id, error: { code: 3, message: 'execution reverted', data: '0x' } });
  second?.set('eth_call', { kind: 'alter', change });
  for (let turn = 0; turn < 3; turn += 1) {
    await look(world, await sendAll(world));
    await letPostponedReturn(world);
  }
  expect((await stateOf(world, good.payment))?.state).toMatch(/^(settled|final)$/);
});

test('while the second of two nodes stands still, a sale of a dollar is settled at the safe block of the first, as if it were away', async () => {
  const [, second] = await start(2);
  const { payment } = await taken('a-dollar-alone', 1_000_000n);
  const head = await world.rpc.newestBlock?.();
  second?.set('*', { kind: 'freeze', block: Number(head) });
  await look(world, await sendAll(world));
  await pass();
  expect(await stateOf(world, payment)).toMatchObject({ state: 'broadcast' });
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 7_200_000 });
  await chainCall(world, 'evm_increaseTime', 7_200);
  await pass();
  expect((await stateOf(world, payment))?.state).toMatch(/^(settled|final)$/);
});

test('a second node that is fifty blocks behind holds up a sale of a dollar by these fifty blocks and no longer', async () => {
  const [, second] = await start(2);
  await mine(world, 60);
  const { payment } = await taken('a-dollar-late', 1_000_000n);
  second?.set('*', { kind: 'behind', blocks: 50 });
  await look(world, await sendAll(world));
  await pass(60);
  expect((await stateOf(world, payment))?.state).toMatch(/^(settled|final)$/);
});

test('a count that one node of two shows, round after round, moves no nonce: the next sale is mined', async () => {
  const [line] = await start(2);
  const first = await taken('first');
  await look(world, await sendAll(world));
  expect(await stateOf(world, first.payment)).toMatchObject({ state: 'settled' });
  await pass();
  const change: Change = (reply) => {
    const answer = JSON.parse(reply) as { result: string };
    return JSON.stringify({ ...answer, result: `0x${(Number(answer.result) + 3).toString(16)}` });
  };
  line?.set('eth_getTransactionCount', { kind: 'alter', change });
  await sweep(world, 3);
  expect(await world.database.query('select next_nonce::int as nonce, seen_nonce from relayer')).toEqual([
    { nonce: 1, seen_nonce: null },
  ]);
  line?.set('eth_getTransactionCount', null);
  const next = await taken('second');
  await look(world, await sendAll(world));
  expect((await stateOf(world, next.payment))?.state).toMatch(/^(settled|final)$/);
});

test('a new key starts at a count that two nodes show', async () => {
  const [line] = await start(2);
  await world.database.query('delete from relayer');
  line?.set('eth_getTransactionCount', { kind: 'alter', change: (reply) => reply.replace(/"result":"0x0"/, '"result":"0x5"') });
  await prepareRelayers(world.deps);
  expect(await world.database.query('select next_nonce::int as nonce from relayer')).toEqual([{ nonce: 0 }]);
});
