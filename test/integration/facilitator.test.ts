import { randomUUID } from 'node:crypto';
import type { PrivateKeyAccount } from 'viem/accounts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ServiceError } from '../../modules/kernel/errors.ts';
import type { Terms } from '../../modules/kernel/terms.ts';
import type { ParsedPayment } from '../../modules/kernel/x402/payload.ts';
import { closeReview, recheckPayment } from '../../modules/operations/use/review.ts';
import { findByAuthorization } from '../../modules/settlement/store/intake.ts';
import type { SettlementDeps } from '../../modules/settlement/use/deps.ts';
import { facilitatorRail } from '../../modules/settlement/use/rails/facilitator/rail.ts';
import { sweepNetwork } from '../../modules/settlement/use/watch/sweep.ts';
import { operatorNamed } from '../../modules/tenants/use/change.ts';
import { Networks } from '../../platform/chain/network.ts';
import { callChain } from '../../sandbox/parts/chain.ts';
import { listAuditEntries } from '../support/auditEntries.ts';
import type { Answer, TestFacilitator } from '../support/facilitator.ts';
import { clientOf, startFacilitator } from '../support/facilitator.ts';
import { age, attempt, attemptUntilDecided, cancel, changed, mine, stateOf } from '../support/faults.ts';
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

interface Purchase {
  readonly terms: Terms;
  readonly payer: PrivateKeyAccount;
  readonly payment: ParsedPayment;
}

const purchase = async (slug: string, ...weights: bigint[]): Promise<Purchase> => {
  const terms = termsFor(world, newAuthors(...(weights.length === 0 ? [1n] : weights)), { slug });
  const payer = await newPayer(world);
  return { terms, payer, payment: await paymentFor(world, payer, terms) };
};

/** Asks for a payment that the facilitator was handed and nobody decided yet. */
const askPending = async ({ terms, payment }: Pick<Purchase, 'terms' | 'payment'>): Promise<void> => {
  expect((await attempt(world, terms, payment)).code).toBe('settlement_pending');
  // The answer is for the time that a buyer waits, which may be over before a busy machine has handed the payment on.
  await expect.poll(async () => (await stateOf(world, payment))?.state).toBe('broadcast');
};

const sweep = (changes: Partial<SettlementDeps>) => sweepNetwork(changed(world, changes), world.network.id);
const openBatches = async (payment: ParsedPayment): Promise<number> => {
  const rows = await world.database.query(
    "select 1 from settlement_batch join payment using (batch_id) where payment.nonce = $1 and settlement_batch.state = 'open'",
    [payment.authorization.nonce],
  );
  return rows.length;
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
  await askPending(twice);
  const other = await purchase('other');
  server.settle = says('tr_2');
  server.status = () => transfer('completed', other.terms.payTo, 1n);
  await askPending(other);
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
  await askPending(split);
});

test('an authorization that its payer cancels on the chain does not fail a payment that an id of the facilitator settles', async () => {
  const { terms, payer, payment } = await purchase('cancelled');
  server.settle = says('tr_5');
  server.status = () => ({ status: 404, json: {} });
  await askPending({ terms, payment });
  await cancel(world, payer, payment.authorization.nonce);
  await mine(world, 5);
  await sweep({});
  expect(await stateOf(world, payment)).toMatchObject({ state: 'broadcast' });
  server.status = () => transfer('completed', terms.payTo, terms.priceMicro);
  expect((await attemptUntilDecided(world, terms, payment)).receipt).toMatchObject({ settlementRef: 'tr_5' });
});

test('a facilitator that answers no status call holds up no round: a bounded number is asked, all at once', async () => {
  const { terms, payment } = await purchase('by-id-watched');
  server.settle = says('tr_6');
  server.status = () => transfer('completed', terms.payTo, terms.priceMicro);
  await attemptUntilDecided(world, terms, payment);
  const { from: payer, nonce } = payment.authorization;
  const { id: network, asset } = world.network;
  const stored = await findByAuthorization(world.database, { network, asset, payer, nonce });
  if (!stored) throw new Error('the payment has no row');
  let asked = 0;
  const client = clientOf({ url: server.url, statusUrl: server.statusUrl });
  const facilitatorOf = () => ({
    ...client,
    status: () => {
      asked += 1;
      return new Promise<'open'>((resolve) => setTimeout(() => resolve('open'), 100));
    },
  });
  const many = Array.from({ length: 200 }, () => ({ ...stored }));
  await facilitatorRail.words(changed(world, { facilitatorOf, now: () => Date.now() + 120_000 }), many);
  expect(asked).toBe(32);
});

test('an id that its facilitator never explains is reviewed by a person and frees its batch; what is said later still decides', async () => {
  const later = () => Date.now() + 3_600_000;
  const [settled, failed, split] = [await purchase('late'), await purchase('late-no'), await purchase('late-split', 1n, 1n)];
  server.settle = (body) => ({
    json: { success: true, transaction: `tr_${body.paymentPayload.payload.authorization.nonce.slice(2)}` },
  });
  server.status = () => ({ status: 404, json: {} });
  const all = [settled, failed, split];
  for (const one of all) await askPending(one);
  const relayed = new Networks([{ ...world.network, settler: 'relayer' }]);
  await age(world);
  await sweep({ networks: relayed, now: later });
  for (const { payment } of all) expect(await stateOf(world, payment)).toMatchObject({ state: 'review' });
  await sweep({ now: later });
  for (const { payment } of all) expect(await openBatches(payment)).toBe(0);
  await callChain(world.chain.rpcUrl, 'evm_increaseTime', [1_000]);
  await mine(world, 80);
  await sweep({ now: later });
  for (const { payment } of all) expect(await stateOf(world, payment)).toMatchObject({ state: 'review' });
  const idOf = ({ payment }: Purchase): string => `tr_${payment.authorization.nonce.slice(2)}`;
  server.status = (id) => {
    const one = all.find((purchased) => idOf(purchased) === id);
    return one
      ? transfer(one === failed ? 'failed' : 'completed', one.terms.payTo, one.terms.priceMicro)
      : { status: 404, json: {} };
  };
  await sweep({ networks: relayed, now: later });
  expect(await stateOf(world, settled.payment)).toMatchObject({ state: 'settled', tx_hash: idOf(settled) });
  expect(await stateOf(world, failed.payment)).toMatchObject({ state: 'failed', reason: 'authorization_invalid' });
  expect(await stateOf(world, split.payment)).toMatchObject({ state: 'review' });

  const row = async () => {
    const { nonce } = split.payment.authorization;
    const sql = 'select payment_id, state, watched, recorded, review_closed_reason as why from payment where nonce = $1';
    return (await world.database.query<{ payment_id: string; state: string; watched: boolean }>(sql, [nonce]))[0];
  };
  const { payment_id: paymentId = '' } = (await row()) ?? {};
  const alerts = async () =>
    (
      await world.database.query('select 1 from operator_alert where detail = $1 and resolved_at is null', [
        `payment ${paymentId}`,
      ])
    ).length;
  const actor = operatorNamed('Ann');
  const close = (deps: SettlementDeps, id = paymentId) => closeReview(deps, { actor, paymentId: id, reason: 'asked them twice' });
  const blind = changed(world, {
    rpcOf: () => ({ ...world.rpc, request: () => Promise.reject(new ServiceError('chain_unavailable', 'gone')) }),
  });
  await expect(close(blind)).rejects.toMatchObject({ code: 'chain_unavailable' });
  expect([await alerts(), await row()]).toMatchObject([1, { watched: true }]);
  expect(await close(world.deps)).toEqual({ paymentId, state: 'review', closed: true });
  expect([await alerts(), await row()]).toMatchObject([
    0,
    { state: 'review', watched: false, recorded: false, why: 'asked them twice' },
  ]);
  await expect(close(world.deps)).rejects.toMatchObject({ code: 'conflict' });
  await expect(close(world.deps, randomUUID())).rejects.toMatchObject({ code: 'not_found' });
  const again = await attempt(world, split.terms, await paymentFor(world, split.payer, split.terms));
  expect(again.code).toBe('settlement_pending');

  await recheckPayment(world.deps, actor, paymentId);
  expect(await row()).toMatchObject({ watched: true, why: null });
  server.status = () => transfer('failed', split.terms.payTo, split.terms.priceMicro);
  expect(await close(changed(world, { now: later }))).toEqual({ paymentId, state: 'failed', closed: false });
  const entries = await listAuditEntries(world.database, world.tenantId);
  expect(entries.map(({ action, actor: by, target }) => [action, by.userId, target])).toEqual([
    ['payment.recheck', 'Ann', paymentId],
    ['payment.close_review', 'Ann', paymentId],
  ]);
});
