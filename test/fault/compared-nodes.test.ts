/** One of two nodes leaves out transfers, or is away: what the reconciler read of one alone is compared before it counts as read. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readDatabaseGauges } from '../../modules/operations/store/gauges.ts';
import { readChain } from '../../modules/reconciliation/use/readChain.ts';
import { createRpc } from '../../platform/chain/rpc/rpc.ts';
import { attempt, changed, mine, spend } from '../support/faults.ts';
import { checkInvariants } from '../support/invariants.ts';
import { scaled } from '../support/patience.ts';
import type { RpcProxy } from '../support/rpc-proxy.ts';
import type { SettlementWorld } from '../support/settlement.ts';
import { newAuthors, newPayer, paymentFor, startOnTwoNodes, termsFor } from '../support/settlement.ts';

let world: SettlementWorld;
let line: RpcProxy;
let other: RpcProxy;
let gifts = new Map<string, bigint>();
beforeEach(async () => {
  ({ world, line, other } = await startOnTwoNodes());
  gifts = new Map();
  await mine(world, 5);
});
afterEach(async () => {
  for (const method of ['eth_getTransactionReceipt', 'eth_getLogs', '*'])
    for (const node of [line, other]) node.set(method, null);
  await checkInvariants(world, { gifts });
  await Promise.all([world.close(), line.close(), other.close()]);
});

/** A transfer to an author of ours that no payment of ours makes: only the reconciler reads it. `blocks` follow. */
async function gift(slug: string, blocks: number) {
  const terms = termsFor(world, newAuthors(1n), { slug });
  const payer = await newPayer(world, 5_000n);
  const payment = await paymentFor(world, payer, terms);
  await attempt(world, terms, payment);
  await spend(world, payer.address, terms.payTo, 7n);
  gifts.set(terms.payTo, 7n);
  await mine(world, blocks);
  await world.rpc.newestBlock?.();
  return terms.payTo;
}

/** Rounds of the reconciler, then its two marks and how many gifts are stored. */
async function read(rounds = 1, deps = world.deps) {
  for (let round = 0; round < rounds; round += 1) await readChain(deps, world.network.id);
  const [row] = await world.database.query<Record<'read' | 'compared' | 'gifts', number>>(
    `select next_block::int as read, compared_block::int as compared,
       (select count(*)::int from chain_transfer where to_address in (select pay_to from payment)) as gifts from chain_cursor`,
  );
  return row ?? { read: 0, compared: 0, gifts: 0 };
}

const NO_LOGS = { kind: 'nothing', result: [] } as const;

test.each([
  ['first', () => line, 0],
  ['second', () => other, 1],
])(
  'where the %s of two nodes leaves out transfers, no mark passes them, both are named, and they are stored once it is well',
  async (_, liar, gifts) => {
    await read();
    liar().set('eth_getLogs', NO_LOGS);
    await gift('left-out', 120);
    const before = await read(2);
    expect(before.gifts).toBe(gifts);
    expect(before.compared).toBeLessThan(before.read - 100);
    const [alert] = await world.database.query<{ kind: string; detail: string }>('select kind, detail from operator_alert');
    expect(alert).toMatchObject({ kind: 'evidence_disputed', detail: expect.stringContaining('RPC URLs 1 against 2') });
    liar().set('eth_getLogs', null);
    expect(await read(2)).toMatchObject({ gifts: 1, compared: before.read - 32 });
  },
);

test('a node that is alone after the other was taken out of the configuration reads again what they differed about', async () => {
  await read();
  line.set('eth_getLogs', NO_LOGS);
  await gift('taken-out', 120);
  const before = await read(2);
  const rpc = createRpc({ ...world.network, rpcUrls: [other.url], blockTimeMs: 60_000 });
  const alone = changed(world, { rpcOf: () => rpc });
  expect(await read(1, alone)).toMatchObject({ gifts: 1, read: before.read, compared: before.read });
  await rpc.close();
});

/** Until looks have found the two nodes so. */
const untilStates = (...states: readonly string[]) =>
  expect
    .poll(async () => (await world.rpc.nodes?.())?.map(({ state }) => state), { timeout: scaled(20_000), interval: 200 })
    .toEqual(states);

test('while one of two nodes is away, blocks are read by the other, and compared once it is back', async () => {
  const start = await read();
  line.set('eth_getLogs', NO_LOGS);
  other.set('*', { kind: 'cut' });
  await gift('one-away', 120);
  await untilStates('up', 'away');
  const alone = await read(2);
  expect(alone.read).toBeGreaterThan(start.read + 100);
  expect(alone).toMatchObject({ gifts: 0, compared: start.compared });
  other.set('*', null);
  line.set('eth_getLogs', null);
  await untilStates('up', 'up');
  expect(await read(2)).toMatchObject({ gifts: 1, compared: alone.read - 32 });
});

test('no mark passes transfers whose receipts contradict their logs; a receipt that the first node does not have is read at the other', async () => {
  await read();
  const payTo = (await gift('receipts', 120)).slice(2).toLowerCase();
  line.set('eth_getTransactionReceipt', { kind: 'alter', change: (reply) => reply.replaceAll(payTo, 'ab'.repeat(20)) });
  const lied = await read(2);
  expect(lied.gifts).toBe(0);
  expect(lied.compared).toBeLessThan(lied.read - 100);
  expect(await world.database.query('select detail from operator_alert')).toEqual([
    { detail: expect.stringContaining('receipts that contradict their logs') },
  ]);
  line.set('eth_getTransactionReceipt', { kind: 'nothing', result: null });
  expect(await read(2)).toMatchObject({ gifts: 1, compared: lied.read - 32 });
});

test('where one of two nodes refuses long ranges of blocks, shorter ones are compared until the mark has caught up, and a gauge tells how far it is behind', async () => {
  await read();
  other.set('*', { kind: 'cut' });
  await gift('short-ranges', 400);
  await untilStates('up', 'away');
  const alone = await read(2);
  const behind = async () =>
    (await readDatabaseGauges(world.database, [world.network.id])).find(({ name }) => name === 'svc.recon.compared_behind')
      ?.value;
  expect(alone.compared).toBeLessThan(alone.read - 300);
  expect(await behind()).toBe(alone.read - alone.compared);
  other.set('*', null);
  other.set('eth_getLogs', { kind: 'short ranges', blocks: 100 });
  await untilStates('up', 'up');
  expect((await read(12)).compared).toBeGreaterThan(alone.read - 32 - 32);
  expect(await behind()).toBeLessThanOrEqual(64);
});

test('blocks are compared 32 at a time, by one query of each node for every 500 recipients', async () => {
  await gift('bounded', 80);
  await read(2);
  const before = other.count('eth_getLogs'); // the first node is asked in each round, the second to compare alone
  for (let block = 0; block < 64; block += 1) {
    await mine(world);
    await world.rpc.newestBlock?.();
    await read();
  }
  expect(other.count('eth_getLogs') - before).toBe(2);
});
