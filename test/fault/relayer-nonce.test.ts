/** A node that counts wrongly cannot move a relayer's nonce, and a person can put it right. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { reportNonce, setNonce } from '../../modules/operations/use/relayerNonce.ts';
import { addRelayer } from '../../modules/operations/use/relayers.ts';
import { prepareRelayers } from '../../modules/settlement/use/startWorkflows.ts';
import { operatorNamed } from '../../modules/tenants/use/change.ts';
import type { Rpc } from '../../platform/chain/rpc/rpc.ts';
import { age, attempt, chainCall, look, mine, sendAll, stateOf, sweep } from '../support/faults.ts';
import type { Known } from '../support/invariants.ts';
import { checkInvariants } from '../support/invariants.ts';
import type { SettlementWorld } from '../support/settlement.ts';
import { newAuthors, newPayer, paymentFor, startSettlement, termsFor } from '../support/settlement.ts';

let world: SettlementWorld;
let known: Known;
/** Answers instead of the node's to its next counts of transactions, by tag; taken from the front. */
let lies: { readonly tag: string; readonly count: string }[];
beforeEach(async () => {
  known = {};
  lies = [];
  const wrap = (rpc: Rpc): Rpc => ({
    ...rpc,
    async request<T>(method: string, params: readonly unknown[], options?: { readonly timeoutMs?: number }): Promise<T> {
      const [lie] = lies;
      if (method !== 'eth_getTransactionCount' || lie?.tag !== params[1]) return rpc.request<T>(method, params, options);
      lies.shift();
      return lie?.count as T;
    },
  });
  world = await startSettlement({ automine: true, runBatches: false, waitMs: 30, wrap });
  await mine(world, 5);
});
afterEach(async () => {
  try {
    await checkInvariants(world, known);
  } finally {
    await world.close();
  }
});

const address = () => world.deps.relayersOf(world.network.id)[0]?.address ?? '0x';
const order = () => ({ actor: operatorNamed('ops'), network: world.network.id, address: address() });
const nextNonce = async () =>
  Number((await world.database.query<{ next_nonce: string }>('select next_nonce from relayer'))[0]?.next_nonce);
const alerts = async (kind: string) =>
  (await world.database.query('select 1 as one from operator_alert where kind = $1', [kind])).length;
const taken = async (slug: string) => {
  const terms = termsFor(world, newAuthors(1n), { slug });
  const payment = await paymentFor(world, await newPayer(world), terms);
  await attempt(world, terms, payment);
  return payment;
};
const nonces = async () =>
  (await world.database.query<{ nonce: string }>('select nonce from relayer_nonce order by nonce')).map((row) =>
    Number(row.nonce),
  );

test('one wrong count moves no nonce, however far it is: both later payments settle at the right ones', async () => {
  for (const count of ['0xf4240', '0x3']) {
    for (const tags of [['safe'], ['safe', 'latest']]) {
      lies = tags.map((tag) => ({ tag, count }));
      await sweep(world, 1);
      expect(lies).toEqual([]);
      expect(await nextNonce()).toBe(0);
      await sweep(world, 1);
    }
  }
  lies.push({ tag: 'latest', count: '0xf4240' });
  await prepareRelayers(world.deps);
  await addRelayer(world.deps, order());
  lies = [];
  for (const slug of ['first', 'second']) {
    const payment = await taken(slug);
    await look(world, await sendAll(world));
    expect(await stateOf(world, payment)).toMatchObject({ state: 'settled' });
  }
  expect(await nonces()).toEqual([0, 1]);
  expect(await alerts('relayer_nonce_suspect')).toBe(1);
  expect(await alerts('relayer_nonce_adopted')).toBe(0);
});

test('a count that is wrong in every round moves nothing either: one alert, and the queue waits until a node counts rightly', async () => {
  lies = Array.from({ length: 3 }, () => ['safe', 'latest'].map((tag) => ({ tag, count: '0xf4240' }))).flat();
  await sweep(world, 3);
  expect(lies).toEqual([]);
  expect(await nextNonce()).toBe(0);
  expect(await alerts('relayer_nonce_suspect')).toBe(1);
  const payment = await taken('waits');
  await sendAll(world);
  expect(await stateOf(world, payment)).toMatchObject({ state: 'accepted' });
  await age(world);
  await sweep(world, 2);
  expect(['settled', 'final']).toContain((await stateOf(world, payment))?.state);
});

test('a new key starts at the lower of two counts, so that one answer cannot put it out of reach', async () => {
  await world.database.query('delete from relayer');
  lies.push({ tag: 'latest', count: '0xf4240' });
  await prepareRelayers(world.deps);
  expect(lies).toEqual([]);
  expect(await nextNonce()).toBe(0);
});

test('a key used elsewhere again and again raises one alert about it, not one a round', async () => {
  known = { outsideNonces: 4 };
  for (const count of ['0x2', '0x4']) {
    await chainCall(world, 'anvil_setNonce', address(), count);
    await mine(world, 3);
    await sweep(world, 2);
    expect(await nextNonce()).toBe(Number(count));
  }
  expect(await alerts('relayer_nonce_adopted')).toBe(1);
});

test.each(['kept', 'dropped'])(
  'with bytes %s by the node a person sets a nonce back: what was signed behind it goes out again, once, and its own fill its place',
  async (fate) => {
    known = { outsideNonces: 0 };
    const settled = await taken('before');
    await look(world, await sendAll(world));
    // What an older version did after one wrong count: batches at nonces that the chain will not reach for long.
    await world.database.query('update relayer set next_nonce = 3');
    const stranded = [await taken('stranded')];
    await sendAll(world);
    stranded.push(await taken('stranded-too'));
    await sendAll(world);
    expect(await nonces()).toEqual([0, 3, 4]);
    const network = world.network.id;
    expect(await reportNonce(world.deps, network, address())).toMatchObject({ nextNonce: 5n, minedNonce: 1n, freeNonce: 1n });
    for (const wrong of [0n, 2n, 3n, 5n, 6n])
      await expect(setNonce(world.deps, order(), wrong)).rejects.toThrow('only 1 avoids both a gap');
    expect(await nextNonce()).toBe(5);
    for (const payment of stranded) expect(await stateOf(world, payment)).toMatchObject({ state: 'broadcast' });

    const after = await setNonce(world.deps, order(), 1n);
    expect(after).toMatchObject({ nextNonce: 1n, freeNonce: 1n });
    for (const payment of stranded) expect(await stateOf(world, payment)).toMatchObject({ state: 'accepted' });
    if (fate === 'dropped') await chainCall(world, 'anvil_dropAllTransactions');
    for (let round = 0; round < stranded.length; round += 1) {
      await look(world, await sendAll(world)).catch(() => undefined);
    }
    for (const payment of [settled, ...stranded]) expect(await stateOf(world, payment)).toMatchObject({ state: 'settled' });

    const later = [];
    for (const slug of ['at-two', 'at-five', 'at-six']) {
      later.push(await taken(slug));
      await sendAll(world);
      await sweep(world, 2);
    }
    for (const payment of later) expect(['settled', 'final']).toContain((await stateOf(world, payment))?.state);
    const all = await nonces();
    expect(all).toEqual(all.map((_, at) => at));
    expect(all.length).toBeGreaterThan(5);
    const bytes = await world.database.query<{ nonce: string; kind: string }>(
      'select distinct on (nonce) nonce, kind from relayer_transaction where nonce in (3, 4) order by nonce, attempt desc',
    );
    expect(bytes.map(({ kind }) => kind)).toEqual(['void', 'void']);
    expect(await world.database.query("select 1 as one from settlement_batch where state = 'open' or gas_wei is null")).toEqual(
      [],
    );
    expect(await alerts('relayer_nonce_adopted')).toBe(0);
  },
);
