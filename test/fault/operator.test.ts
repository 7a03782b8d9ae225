/** What an operator does by hand: it decides nothing, and says what it did and what it did not. */
import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { recoverNetwork } from '../../modules/operations/use/recoverNetwork.ts';
import { addRelayer, rebroadcastPayment, voidNonce } from '../../modules/operations/use/relayers.ts';
import { operatorNamed } from '../../modules/tenants/use/change.ts';
import { attempt, chainCall, look, mine, sendAll, stateOf, sweep } from '../support/faults.ts';
import { checkInvariants } from '../support/invariants.ts';
import type { SettlementWorld } from '../support/settlement.ts';
import { newAuthors, newPayer, paymentFor, startSettlement, termsFor } from '../support/settlement.ts';

let world: SettlementWorld;
beforeEach(async () => {
  world = await startSettlement({ automine: true, runBatches: false, waitMs: 50 });
  await mine(world, 5);
});
afterEach(async () => {
  try {
    await checkInvariants(world);
  } finally {
    await world.close();
  }
});

async function taken(slug: string, tenantId = world.tenantId) {
  const terms = { ...termsFor(world, newAuthors(1n), { slug }), tenantId };
  const payment = await paymentFor(world, await newPayer(world), terms);
  expect((await attempt(world, terms, payment)).code).toBe('settlement_pending');
  const [row] = await world.database.query<{ payment_id: string }>('select payment_id from payment where slug = $1', [slug]);
  return { payment, paymentId: row?.payment_id ?? '' };
}

const relayer = (): string => world.deps.relayersOf(world.network.id)[0]?.address ?? '';
const order = () => ({ actor: operatorNamed('ops'), network: world.network.id, address: relayer() });
const voided = (nonce: bigint) => voidNonce(world.deps, order(), nonce);
const attempts = async (): Promise<number> => (await world.database.query('select 1 from relayer_transaction')).length;

test('rebroadcasting says whether bytes went out: not before they are signed, and not once they are mined', async () => {
  const { payment, paymentId } = await taken('by-hand');
  expect(await rebroadcastPayment(world.deps, paymentId)).toMatch(/^nothing of it has been signed/);
  await chainCall(world, 'evm_setAutomine', false);
  const batchId = await sendAll(world);
  await chainCall(world, 'anvil_dropAllTransactions');
  await chainCall(world, 'evm_setAutomine', true);
  expect(await rebroadcastPayment(world.deps, paymentId)).toBe(`the bytes of batch ${batchId} went out again`);
  await look(world, batchId);
  await sweep(world, 2);
  expect(await rebroadcastPayment(world.deps, paymentId)).toBe(`batch ${batchId} is mined: nothing was sent`);
  expect((await stateOf(world, payment))?.state).toBe('final');
  expect(await attempts()).toBe(1);
  await expect(rebroadcastPayment(world.deps, randomUUID())).rejects.toMatchObject({ code: 'not_found' });
});

test('a nonce is voided once: the second time, when it is mined, and when no batch has it, nothing is sent and that is said', async () => {
  const { payment } = await taken('void-by-hand');
  await chainCall(world, 'evm_setAutomine', false);
  const batchId = await sendAll(world);
  await chainCall(world, 'anvil_dropAllTransactions');
  expect(await voided(0n)).toMatch(/is voided; its payments go out again when the transfer is mined$/);
  const before = await attempts();
  await expect(voided(0n)).rejects.toThrow(`batch ${batchId} is finished, already voided, or was just sent again`);
  await expect(voided(1n)).rejects.toThrow('no batch has taken this nonce');
  expect((await stateOf(world, payment))?.state).toBe('broadcast');
  await chainCall(world, 'evm_setAutomine', true);
  await mine(world);
  await expect(voided(0n)).rejects.toThrow('this nonce is mined; there is nothing to void');
  expect(await attempts()).toBe(before);
  await sweep(world, 3);
  expect(['settled', 'final']).toContain((await stateOf(world, payment))?.state);
});

test('adopting the count of a chain that lags behind takes no nonce a second time', async () => {
  const { payment, paymentId } = await taken('ahead');
  const next = async (): Promise<bigint | undefined> => {
    const { database, network } = world;
    const [row] = await database.query<{ next_nonce: string }>('select next_nonce from relayer where network = $1', [network.id]);
    return row && BigInt(row.next_nonce);
  };
  await chainCall(world, 'evm_setAutomine', false);
  const batchId = await sendAll(world);
  await chainCall(world, 'anvil_dropAllTransactions');
  await addRelayer(world.deps, order());
  await recoverNetwork(world.deps, world.network.id);
  expect(await next()).toBe(1n);
  await chainCall(world, 'evm_setAutomine', true);
  await rebroadcastPayment(world.deps, paymentId);
  await look(world, batchId);
  await addRelayer(world.deps, order());
  await recoverNetwork(world.deps, world.network.id);
  expect(await next()).toBe(1n);
  expect((await stateOf(world, payment))?.state).toBe('settled');
});
