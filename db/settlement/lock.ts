import type { Sql } from '../database.ts';
import { BUYER_SQL, IN_KEY_ORDER, lockPurchasesSql } from './intake.ts';
import type { Payment, PaymentRef, PaymentRow } from './payment.ts';
import { inKeyOrder, intakeOf, PAYMENT_COLUMNS, paymentFromRow, stateOf } from './payment.ts';

/**
 * Locks the purchases of some payments in key order, and then what became of the payments, in theirs, and gives those that exist as they are
 * now: each is held until the database transaction ends. A purchase has its row since its intake and is only locked, which writes less than
 * to change it; one without a row gets it. The shape of the statement leaves the planner no choice but the keys.
 */
export async function lockPayments(sql: Sql, refs: readonly PaymentRef[]): Promise<Payment[]> {
  const sorted = inKeyOrder(refs);
  if (sorted.length === 0) return [];
  const rows = await sql.query<PaymentRow & Record<string, unknown>>(
    `with purchase as materialized (
       select i.tenant_id, ${BUYER_SQL} as payer, i.resource_key, i.kind
         from unnest($1::uuid[], $2::uuid[]) as asked (tenant_id, payment_id) cross join lateral ${intakeOf('asked')} as i
        group by 1, 2, 3, 4
     ), locked as materialized (
       select found.* from (select * from purchase ${IN_KEY_ORDER}) as sorted cross join lateral (
         select * from open_purchase as open where open.tenant_id = sorted.tenant_id and open.payer = sorted.payer
           and open.resource_key = sorted.resource_key and open.kind = sorted.kind for update) as found
     ), made as (
       ${lockPurchasesSql('select * from purchase except all select * from locked')} returning 1
     )
     select ${PAYMENT_COLUMNS} from (
         select (select count(*) from locked) + (select count(*) from made) as purchases) as first
       cross join lateral (
         select * from unnest($1::uuid[], $2::uuid[]) as asked (tenant_id, payment_id) where first.purchases > 0 offset 0) as wanted
       cross join lateral ${stateOf('wanted', true)} as s cross join lateral ${intakeOf('wanted')} as i`,
    [sorted.map((ref) => ref.tenantId), sorted.map((ref) => ref.paymentId)],
    'lock-payments',
  );
  return rows.map(paymentFromRow);
}
