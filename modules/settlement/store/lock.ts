import type { Sql } from '../../../db/database.ts';
import { unseenLists } from '../../../db/unseen.ts';
import type { Payment, PaymentRef, PaymentRow } from './payment.ts';
import { inKeyOrder, intakeOf, PAYMENT_COLUMNS, paymentFromRow, stateOf } from './payment.ts';

/** What a purchase is told by: a page's by the wallet that pays, a licence's by the account that gets it, whichever wallet pays. */
export type PurchaseKey = Pick<Payment, 'tenantId' | 'payer' | 'resourceKey' | 'kind' | 'purpose' | 'accountId'>;

/** Whose purchase it is. */
export function buyerOf({ purpose, accountId, payer }: PurchaseKey): string {
  return purpose === 'licence' && accountId !== null ? accountId : payer;
}

/** The same of a row of `payment_intake`. */
export const BUYER_SQL = "case when purpose = 'licence' and account_id is not null then account_id::text else payer end";

/**
 * A query that locks the purchases that `query` gives (`payer`: whose they are), each once, in the one order that all
 * callers use (safety 14). The locks are Postgres' own, without a row, and held until the database transaction ends.
 */
export function lockPurchasesSql(query: string): string {
  return `select lock_purchase(tenant_id, payer, resource_key, kind) from (
     select distinct tenant_id, payer collate "C" as payer, resource_key collate "C" as resource_key, kind collate "C" as kind
       from (${query}) as purchase order by 1, 2, 3, 4) as sorted`;
}

/** Locks the purchases of a list (safety 14). */
export async function lockPurchases(sql: Sql, keys: readonly PurchaseKey[]): Promise<void> {
  if (keys.length === 0) return;
  await sql.query(
    lockPurchasesSql(
      'select * from unnest($1::uuid[], $2::text[], $3::text[], $4::text[]) as asked (tenant_id, payer, resource_key, kind)',
    ),
    [keys.map((k) => k.tenantId), keys.map(buyerOf), keys.map((k) => k.resourceKey), keys.map((k) => k.kind)],
    'lock-purchases',
  );
}

/** One text for one purchase. */
export function purchaseText(key: PurchaseKey): string {
  return JSON.stringify([key.tenantId, buyerOf(key), key.resourceKey, key.kind]);
}

/**
 * Locks the purchases of some payments in key order, and then what became of the payments, in theirs, and gives those that exist as they are
 * now: each is held until the database transaction ends. The shape of the statement leaves the planner no choice but the keys.
 */
export async function lockPayments(sql: Sql, refs: readonly PaymentRef[]): Promise<Payment[]> {
  const sorted = inKeyOrder(refs);
  if (sorted.length === 0) return [];
  const rows = await sql.query<PaymentRow & Record<string, unknown>>(
    `with locked as materialized (
       ${lockPurchasesSql(`select i.tenant_id, ${BUYER_SQL} as payer, i.resource_key, i.kind
         from unnest(${unseenLists(['uuid', 'uuid'])}) as asked (tenant_id, payment_id) cross join lateral ${intakeOf('asked')} as i`)}
     )
     select ${PAYMENT_COLUMNS} from (select count(*) as purchases from locked) as first
       cross join lateral (
         select * from unnest(${unseenLists(['uuid', 'uuid'])}) as asked (tenant_id, payment_id) where first.purchases > 0 offset 0) as wanted
       cross join lateral ${stateOf('wanted', true)} as s cross join lateral ${intakeOf('wanted')} as i`,
    [sorted.map((ref) => ref.tenantId), sorted.map((ref) => ref.paymentId)],
    'lock-payments',
  );
  return rows.map(paymentFromRow);
}
