/** Rows that no code of ours would have written, in the middle of others' payments. */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { ParsedPayment } from '../../modules/kernel/x402/payload.ts';
import { attempt, look, mine, sendAll, stateOf, sweep } from '../support/faults.ts';
import { checkInvariants } from '../support/invariants.ts';
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

async function taken(slug: string): Promise<ParsedPayment> {
  const terms = termsFor(world, newAuthors(2n, 1n), { slug });
  const payment = await paymentFor(world, await newPayer(world), terms);
  expect((await attempt(world, terms, payment)).code).toBe('settlement_pending');
  return payment;
}

test.for([
  ['signature', "signature = ''"],
  ['legs', "leg_words = '{0xzz}'"],
  ['recipient', "pay_to = 'nobody'"],
  ['payer', "payer = 'nobody'"],
  ['router', "router = '0x'"],
] as const)('a payment whose %s nobody can read fails alone, unsent, and tells the operator', async ([part, change]) => {
  const [before, poison, after] = [await taken(`${part}-before`), await taken(`${part}-poison`), await taken(`${part}-after`)];
  const old = await world.database.query<{ row: object }>('select to_jsonb(payment) as row from payment where slug = $1', [
    `${part}-poison`,
  ]);
  await query(world.ownerUrl, `update test.payment set ${change} where slug = $1`, [`${part}-poison`]);
  const batchId = await sendAll(world);
  await look(world, batchId);
  await sweep(world, 2);
  for (const payment of [before, after]) expect(['settled', 'final']).toContain((await stateOf(world, payment))?.state);
  expect(await stateOf(world, poison)).toMatchObject({ state: 'failed', reason: 'malformed_payment', attempts: 0 });
  const { database, tenantId } = world;
  const alerts = await database.query(
    "select tenant_id from operator_alert where kind = 'payment_unreadable' and resolved_at is null",
  );
  expect(alerts).toEqual([{ tenant_id: tenantId }]);
  await database.query('update operator_alert set resolved_at = now()');
  // Its row as it was, for the comparison with the chain; what was decided of it stays.
  await query(
    world.ownerUrl,
    `update test.payment set payer = old.payer, pay_to = old.pay_to, router = old.router, signature = old.signature, leg_words = old.leg_words
       from jsonb_populate_record(null::payment, $1) as old where payment.payment_id = old.payment_id`,
    [JSON.stringify(old[0]?.row)],
  );
});
