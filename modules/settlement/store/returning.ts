/** Payments of closed months (`archive`, ADR 0050) that are written once more: rare, since months close when nothing is open in them. */
import { sql as text } from 'kysely';
import type { Sql } from '../../../db/database.ts';
import { run, tables } from '../../../db/statement.ts';
import type { PaymentRef } from './payment.ts';
import { inKeyOrder } from './payment.ts';

/**
 * The rows of closed months that belong to the payment which a row of `of` names: `at` is a time in its month. Months more than a month away are not
 * looked at, however many there are. To be put behind the rows of the open table, with `union all`.
 */
export function closedOf(table: 'payment_intake' | 'payment_state', of: string, at: string): string {
  return `select * from archive.${table} where tenant_id = ${of}.tenant_id and payment_id = ${of}.payment_id and ${isNear('accepted_at', at)}`;
}

/** Days around a time of a payment that hold all of it: its month, and that month's neighbours at most. */
const NEAR_DAYS = 32;

/** True near a time that a row has: months are left out while the statement runs. */
export function isNear(column: string, at: string): string {
  const span = `interval '${24 * NEAR_DAYS} hours'`;
  return `${column} > ${at} - ${span} and ${column} < ${at} + ${span}`;
}

/** The ends of what is near a time, as parameters: Postgres leaves months out of a plan for constants, and opens all for what it has yet to work out. */
export function endsAround(at: Date): readonly [Date, Date] {
  const spanMs = NEAR_DAYS * 86_400_000;
  return [new Date(at.getTime() - spanMs), new Date(at.getTime() + spanMs)];
}

/**
 * Brings payments of closed months back into the tables that the service writes, each with its crossings and legs; returns how many. Nothing of
 * them changes. Again, and for payments that are in no closed month: 0. Those of a month that was detached are not there.
 */
export async function returnPayments(sql: Sql, refs: readonly PaymentRef[]): Promise<number> {
  let returned = 0;
  // One after the other, in one order: each writes the record of its month, which no two callers may lock crosswise.
  for (const { tenantId, paymentId } of inKeyOrder(refs)) {
    const brings = text<boolean>`return_payment(${tenantId}, ${paymentId})`;
    const [row] = await run(
      sql,
      tables.selectNoFrom(({ case: when, exists, selectFrom }) => {
        const open = selectFrom('payment_state')
          .select('state')
          .where('tenantId', '=', tenantId)
          .where('paymentId', '=', paymentId);
        return when().when(exists(open)).then(text<boolean>`false`).else(brings).end().as('isBack');
      }),
    );
    if (row?.isBack === true) returned += 1;
  }
  return returned;
}
