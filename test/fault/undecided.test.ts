/** What a buyer is told, and what is done with what he signs next, while nobody knows how his payment ended. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Terms } from '../../modules/kernel/terms.ts';
import type { ParsedPayment } from '../../modules/kernel/x402/payload.ts';
import { PaymentError } from '../../modules/settlement/use/answer/receipt.ts';
import { listBalances, listUsedNonces } from '../../platform/chain/evidence/states.ts';
import { attempt, cancel, look, sendAll, stateOf, sweep } from '../support/faults.ts';
import { addressOf } from '../support/payments.ts';
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

/** From now on the chain works and nobody hears of it, or hears again. */
const loseReceipts = (isLost: boolean) => {
  for (const method of ['eth_getTransactionReceipt', 'eth_getLogs']) line.set(method, isLost ? { kind: 'drop reply' } : null);
};
const refusalOf = async (terms: Terms, payment: ParsedPayment): Promise<PaymentError> => {
  const error: unknown = await pay(world, terms, payment).catch((cause: unknown) => cause);
  if (!(error instanceof PaymentError)) throw new Error('the payment is not refused');
  return error;
};
const isUnused = async ({ authorization: { from, nonce } }: ParsedPayment) =>
  !(await listUsedNonces(world.rpc, world.network, [{ payer: from, nonce }]))[0];

test('while the receipt is lost the buyer gets settlement_pending with the hash; the same payment then gets its page, paid once', async () => {
  const terms = termsFor(world, newAuthors(3n, 1n), { slug: 'receipt-lost' });
  const payer = await newPayer(world);
  const payment = await paymentFor(world, payer, terms);
  await attempt(world, terms, payment);
  loseReceipts(true);
  await look(world, await sendAll(world)).catch(() => undefined);
  const refusal = await refusalOf(terms, payment);
  const told = JSON.parse(Buffer.from(refusal.paymentResponse ?? '', 'base64').toString());
  const [sent] = await world.database.query<{ tx_hash: string }>('select tx_hash from relayer_transaction');
  expect(refusal.code).toBe('settlement_pending');
  expect(told).toMatchObject({ success: false, transaction: sent?.tx_hash });
  loseReceipts(false);
  await sweep(world, 2);
  const receipt = await pay(world, terms, payment);
  expect(receipt).toMatchObject({ settlementRef: sent?.tx_hash, chargedMicro: 1_000n });
  expect(await listBalances(world.rpc, world.network, [addressOf(payer)])).toEqual([999_000n]);
});

test('an authorization signed again while the first is undecided is held, gets the receipt of the first, and is never used', async () => {
  const terms = termsFor(world, newAuthors(1n), { slug: 'signed-anew' });
  const payer = await newPayer(world);
  const [first, second] = [await paymentFor(world, payer, terms), await paymentFor(world, payer, terms)];
  await attempt(world, terms, first);
  loseReceipts(true);
  await look(world, await sendAll(world)).catch(() => undefined);
  expect((await attempt(world, terms, second)).code).toBe('settlement_pending');
  expect(await stateOf(world, second)).toMatchObject({ state: 'held' });
  await sendAll(world).catch(() => undefined);
  loseReceipts(false);
  await sweep(world, 2);
  expect(await stateOf(world, second)).toMatchObject({ state: 'superseded' });
  expect(await pay(world, terms, second)).toEqual(await pay(world, terms, first));
  expect(await isUnused(second)).toBe(true);
  expect(await listBalances(world.rpc, world.network, [addressOf(payer)])).toEqual([999_000n]);
});

test('an authorization that was cancelled before it is shown is authorization_invalid, not already paid, and leaves no row', async () => {
  const terms = termsFor(world, newAuthors(1n), { slug: 'cancelled-before' });
  const payer = await newPayer(world);
  const payment = await paymentFor(world, payer, terms);
  await cancel(world, payer, payment.authorization.nonce);
  const refusal = await refusalOf(terms, payment);
  expect(refusal.code).toBe('authorization_invalid');
  expect(refusal.message).not.toMatch(/already/);
  expect(await stateOf(world, payment)).toBeNull();
});
