/** Claims whose commit travels with them: what must keep one from standing fails in Postgres. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Database } from '../../db/database.ts';
import { openDatabase } from '../../db/database.ts';
import { markClaimed } from '../../modules/settlement/store/claim.ts';
import { insertPayments } from '../../modules/settlement/store/intake.ts';
import type { Payment } from '../../modules/settlement/store/payment.ts';
import { newPaymentRow } from '../simulation/sqlPayment.ts';
import { insertTenant } from '../support/ledger.ts';
import type { TestDatabase } from '../support/parts.ts';
import { createDatabase } from '../support/parts.ts';

const NETWORK = 'eip155:84532';

let urls: TestDatabase;
let database: Database;
beforeAll(async () => {
  urls = await createDatabase();
  database = await openDatabase({ url: urls.appUrl, poolSize: 2, pipelined: true });
});
afterAll(async () => {
  await database.close();
  await urls.drop();
});

async function acceptedPayment(tenantId: string): Promise<Payment> {
  const paymentId = randomUUID();
  const auth = { payer: randomUUID(), to: 'b', nonce: randomUUID(), validAfter: 0, validBefore: 99, value: 10 };
  const own = { auth, legs: [{ toAddress: 'b', amountMicro: 10n }], payerKind: 'plain', resource: 'r', kind: 'read' };
  const row = { ...own, seenBlock: 1, seenReorgs: 0, id: paymentId };
  const payment = newPaymentRow({ tenantId, network: NETWORK, address: 'x' } as never, paymentId, row as never);
  const [stored] = await insertPayments(database, [{ payment, guard: () => ({ state: 'accepted' }) }]);
  if (stored?.kind !== 'inserted') throw new Error('a payment was not stored');
  return stored.payment;
}

test('a claim of a payment that is not open any more leaves nothing of the claim, though its commit was sent with it', async () => {
  const tenantId = await insertTenant(database);
  const [one, other] = [await acceptedPayment(tenantId), await acceptedPayment(tenantId)];
  const claim = (payments: readonly Payment[], nonce: number) => {
    const batchId = randomUUID();
    const batch = "insert into settlement_batch (batch_id, network, relayer, kind, nonce) values ($1, $2, 'r', 'settle', $3)";
    return database.shortTransaction(async (sql) => async () => {
      await Promise.all([sql.query(batch, [batchId, NETWORK, nonce]), markClaimed(sql, payments, batchId)]);
      return batchId;
    });
  };
  const first = await claim([one], 1);
  await expect(claim([one, other], 2)).rejects.toThrow('a claimed payment was not open any more');
  expect(await database.query('select batch_id from settlement_batch')).toEqual([{ batch_id: first }]);
  const states = await database.query<{ state: string }>('select state from payment_state order by state');
  expect(states.map(({ state }) => state)).toEqual(['accepted', 'broadcast']);
});
