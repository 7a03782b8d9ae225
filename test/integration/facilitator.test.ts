import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Answer, TestFacilitator } from '../support/facilitator.ts';
import { clientOf, startFacilitator } from '../support/facilitator.ts';
import { attempt, attemptUntilDecided, mine, stateOf } from '../support/faults.ts';
import type { SettlementWorld } from '../support/settlement.ts';
import { newAuthors, newPayer, pay, paymentFor, startSettlement, termsFor } from '../support/settlement.ts';

let world: SettlementWorld;
let server: TestFacilitator;
beforeAll(async () => {
  server = await startFacilitator();
  const facilitator = clientOf({ url: server.url, statusUrl: server.statusUrl });
  world = await startSettlement({ automine: true, waitMs: 1_500, network: { settler: 'facilitator' }, facilitator });
  await mine(world, 5);
});
afterAll(async () => {
  await server.stop();
  await world.close();
});

const purchase = async (slug: string, ...weights: bigint[]) => {
  const terms = termsFor(world, newAuthors(...(weights.length === 0 ? [1n] : weights)), { slug });
  return { terms, payment: await paymentFor(world, await newPayer(world), terms) };
};

const says =
  (id: string): TestFacilitator['settle'] =>
  () => ({ json: { success: true, transaction: id, network: 'eip155:84532' } });

const transfer = (status: string, toAddress: string, amount: bigint): Answer => ({
  json: { status, toAddress, amount: amount.toString() },
});

test('an id of the facilitator settles once its status call says so, and the receipt calls it a transferId', async () => {
  const { terms, payment } = await purchase('by-id');
  server.settle = says('tr_1');
  let asked = 0;
  server.status = () => transfer(asked++ === 0 ? 'received' : 'completed', terms.payTo, terms.priceMicro);
  const { receipt } = await attemptUntilDecided(world, terms, payment);
  expect(receipt).toMatchObject({ settlementRef: 'tr_1', settlementRefKind: 'transferId', chargedMicro: 1_000n });
  expect(await pay(world, terms, payment)).toEqual(receipt);
  expect(server.asked.get(payment.authorization.nonce)).toBe(1);
});

test('an id that proved a payment proves no other one, nor does a status that speaks of another amount or recipient', async () => {
  const twice = await purchase('twice');
  server.settle = says('tr_1');
  server.status = () => transfer('completed', twice.terms.payTo, twice.terms.priceMicro);
  expect((await attempt(world, twice.terms, twice.payment)).code).toBe('settlement_pending');
  const other = await purchase('other');
  server.settle = says('tr_2');
  server.status = () => transfer('completed', other.terms.payTo, 1n);
  expect((await attempt(world, other.terms, other.payment)).code).toBe('settlement_pending');
  expect(await stateOf(world, other.payment)).toMatchObject({ state: 'broadcast', tx_hash: null });
});

test('a transfer that the facilitator failed fails the payment; a split is never settled by an id', async () => {
  const failed = await purchase('failed');
  server.settle = says('tr_3');
  server.status = () => transfer('failed', failed.terms.payTo, failed.terms.priceMicro);
  expect((await attemptUntilDecided(world, failed.terms, failed.payment)).code).toBe('settlement_failed');
  const split = await purchase('split', 1n, 1n);
  server.settle = says('tr_4');
  server.status = () => transfer('completed', split.terms.payTo, split.terms.priceMicro);
  expect((await attempt(world, split.terms, split.payment)).code).toBe('settlement_pending');
});
