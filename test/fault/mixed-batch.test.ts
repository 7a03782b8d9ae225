/** Fifty payments at once of which four cannot be paid: each gets its own answer, and nobody else's. */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { Terms } from '../../modules/kernel/terms.ts';
import type { ParsedPayment } from '../../modules/kernel/x402/payload.ts';
import { attempt, block, cancel, chainCall, look, mine, sendAll, spend, stateOf } from '../support/faults.ts';
import { checkInvariants } from '../support/invariants.ts';
import { addressOf, newAccount, newWallet, signPayment } from '../support/payments.ts';
import type { SettlementWorld } from '../support/settlement.ts';
import { newAuthors, newPayer, paymentFor, startSettlement, termsFor } from '../support/settlement.ts';
import { query } from '../support/sql.ts';

let world: SettlementWorld;
beforeAll(async () => {
  world = await startSettlement({ automine: true, runBatches: false, waitMs: 50 });
  await mine(world, 5);
});
afterAll(() => world.close());
afterEach(() => checkInvariants(world));

const GOOD = 46;

/** A payment that is taken in, for terms of its own unless told. */
const take = async (slug: string, terms: Terms = termsFor(world, newAuthors(2n, 1n), { slug })) => {
  const payer = await newPayer(world, 1_000n);
  const payment = await paymentFor(world, payer, terms);
  expect((await attempt(world, terms, payment)).code).toBe('settlement_pending');
  return { payer, payment, terms };
};
const outcomeOf = async ({ payment }: { readonly payment: ParsedPayment }) => {
  const row = await stateOf(world, payment);
  return row?.reason ?? row?.state;
};

test('of fifty, those without funds, with a wrong signature, a used nonce or a blocked author fail alone, each by its own reason', async () => {
  const page = termsFor(world, newAuthors(3n, 2n, 1n), { slug: 'shared' });
  const good = [];
  for (let made = 0; made < GOOD; made += 1) good.push(await take('shared', page));
  const [poor, forged, used, blocked] = [await take('poor'), await take('forged'), await take('used'), await take('blocked')];
  // A signature that was good at intake and is not any more, as of a wallet whose owner changed.
  const { signature } = await signPayment(world.network, newAccount(), forged.payment.authorization);
  await query(world.ownerUrl, "update test.payment set signature = $1 where slug = 'forged'", [signature]);
  await chainCall(world, 'evm_setAutomine', false);
  const batchId = await sendAll(world);
  expect(await outcomeOf(forged)).toBe('authorization_invalid');
  await chainCall(world, 'anvil_dropAllTransactions');
  await chainCall(world, 'evm_setAutomine', true);
  await spend(world, addressOf(poor.payer), newWallet(), 900n);
  await cancel(world, used.payer, used.payment.authorization.nonce);
  await block(world, blocked.terms.legs[0]?.toAddress ?? '');
  await look(world, batchId);
  await look(world, batchId);
  expect(await Promise.all([poor, used, blocked].map(outcomeOf))).toEqual([
    'insufficient_funds',
    'authorization_invalid',
    'settlement_failed',
  ]);
  expect(new Set(await Promise.all(good.map(outcomeOf)))).toEqual(new Set(['settled']));
  const mined = await world.database.query("select distinct tx_hash from payment where state = 'settled'");
  expect(mined).toHaveLength(1);
  const counted = await world.database.query<{ slug: string; reason: string }>(
    "select slug, reason from observation where verdict = 'payment-failed' order by slug",
  );
  expect(counted).toEqual([
    { slug: 'blocked', reason: 'settlement_failed' },
    { slug: 'forged', reason: 'authorization_invalid' },
    { slug: 'poor', reason: 'insufficient_funds' },
    { slug: 'used', reason: 'authorization_invalid' },
  ]);
});
