/** Payments under review that a person closed: nothing of their state changes, they are only watched no more. */
import { sql as text } from 'kysely';
import type { Sql } from '../../../db/database.ts';
import { run, tables } from '../../../db/statement.ts';
import type { PaymentRef } from './payment.ts';

/** A closed review as the audit log shows it; null while it is open. */
export async function findReview(sql: Sql, { tenantId, paymentId }: PaymentRef): Promise<{ closed: string } | null> {
  const state = tables.selectFrom('payment_state').select('reviewClosedReason').where('tenantId', '=', tenantId);
  const [row] = await run(sql, state.where('paymentId', '=', paymentId));
  return row?.reviewClosedReason ? { closed: row.reviewClosedReason } : null;
}

/** Closes the review of a payment and resolves its alert; false when it is not under review, or closed already. */
export async function closeReviewRow(sql: Sql, { tenantId, paymentId }: PaymentRef, reason: string): Promise<boolean> {
  const closed = await run(
    sql,
    tables
      .updateTable('payment_state')
      .set({ watched: false, reviewClosedAt: text<Date>`clock_timestamp()`, reviewClosedReason: reason })
      .where('tenantId', '=', tenantId)
      .where('paymentId', '=', paymentId)
      .where('state', '=', 'review')
      .where('reviewClosedAt', 'is', null)
      .returning('paymentId'),
  );
  if (closed.length === 0) return false;
  await run(
    sql,
    tables
      .updateTable('operator_alert')
      .set({ resolvedAt: text<Date>`now()` })
      .where('kind', '=', 'payment_review')
      .where('tenantId', '=', tenantId)
      .where('detail', '=', `payment ${paymentId}`)
      .where('resolvedAt', 'is', null),
  );
  return true;
}
