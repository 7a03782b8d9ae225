import { afterEach, expect, test } from 'vitest';
import { readChain } from '../../modules/reconciliation/use/readChain.ts';
import { listBalances } from '../../platform/chain/evidence/states.ts';
import type { Finality } from '../../platform/chain/network.ts';
import { verifyNetwork } from '../../platform/chain/network.ts';
import { attempt, look, mine, sendAll, stateOf, sweep } from '../support/faults.ts';
import { checkInvariants } from '../support/invariants.ts';
import type { RpcProxy } from '../support/rpc-proxy.ts';
import { startRpcProxy } from '../support/rpc-proxy.ts';
import type { SettlementWorld } from '../support/settlement.ts';
import { newAuthors, newPayer, paymentFor, startSettlement, termsFor } from '../support/settlement.ts';

let world: SettlementWorld;
let proxy: RpcProxy;
afterEach(async () => {
  try {
    proxy.set('*', null);
    await checkInvariants(world, { isIdle: false });
  } finally {
    await world.close();
    await proxy.close();
  }
});

/** A network whose nodes know no block at the tag `safe`, as Polygon's. */
async function start(finality?: Finality): Promise<void> {
  const inFront = async (url: string): Promise<string> => {
    proxy = await startRpcProxy(url);
    proxy.set('*', { kind: 'no tag', tag: 'safe' });
    return proxy.url;
  };
  const network = finality === undefined ? {} : { finality };
  world = await startSettlement({ automine: true, runBatches: false, waitMs: 50, inFront, network });
  await mine(world, 8);
}

async function sell() {
  const terms = termsFor(world, newAuthors(1n), { slug: 'page' });
  const payment = await paymentFor(world, await newPayer(world, 5_000n), terms);
  expect((await attempt(world, terms, payment)).code).toBe('settlement_pending');
  await look(world, await sendAll(world));
  return { terms, payment };
}

test('the check at the start names the tag that a node does not know, and what to set', async () => {
  await start();
  await expect(verifyNetwork(world.network, world.rpc)).rejects.toThrow(
    /RPC URL 1 knows no block at the tag safe: set finality to a tag it knows, or to a number of blocks/,
  );
});

test('a node that loses its safe tag later keeps no sale from being settled, recorded and answered', async () => {
  await start();
  const { terms, payment } = await sell();
  expect(await stateOf(world, payment)).toMatchObject({ state: 'settled' });
  expect((await attempt(world, terms, payment)).code).toBe('settled');
  await mine(world, 10);
  await sweep(world, 2);
  expect(await stateOf(world, payment)).toMatchObject({ state: 'settled' });
  expect(await world.database.query('select 1 from crossing')).toHaveLength(1);
  expect(await listBalances(world.rpc, world.network, [terms.payTo])).toEqual([1_000n]);
});

test.each(['finalized', 3] as const)(
  'with finality at %s such a network opens, and its sales become final and are reconciled',
  async (finality) => {
    await start(finality);
    await verifyNetwork(world.network, world.rpc);
    const { payment } = await sell();
    expect(await stateOf(world, payment)).toMatchObject({ state: 'settled' });
    await mine(world, 80);
    await world.rpc.newestBlock?.();
    await sweep(world, 4);
    expect(await stateOf(world, payment)).toMatchObject({ state: 'final' });
    await readChain(world.deps, world.network.id);
    expect(await world.database.query('select 1 from chain_transfer where nonce is not null')).toHaveLength(1);
  },
);
