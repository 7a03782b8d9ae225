/** Payments under review that a person closed: nothing of their state changes, they are only watched no more. */
import type { Sql } from '../../../db/database.ts';
import type { PaymentRef } from './payment.ts';

/** A closed review as the audit log shows it; null while it is open. */
export async function findReview(sql: Sql, { tenantId, paymentId }: PaymentRef): Promise<{ closed: string } | null> {
  const [row] = await sql.query<{ reason: string | null }>(
    'select review_closed_reason as reason from payment_state where tenant_id = $1 and payment_id = $2',
    [tenantId, paymentId],
  );
  return row?.reason ? { closed: row.reason } : null;
}

/** Closes the review of a payment and resolves its alert; false when it is not under review, or closed already. */
export async function closeReviewRow(sql: Sql, { tenantId, paymentId }: PaymentRef, reason: string): Promise<boolean> {
  const rows = await sql.query(
    `update payment_state set watched = false, review_closed_at = clock_timestamp(), review_closed_reason = $3
      where tenant_id = $1 and payment_id = $2 and state = 'review' and review_closed_at is null returning 1`,
    [tenantId, paymentId, reason],
  );
  if (rows.length === 0) return false;
  await sql.query(
    `update operator_alert set resolved_at = now() where kind = 'payment_review' and tenant_id = $1 and detail = $2 and resolved_at is null`,
    [tenantId, `payment ${paymentId}`],
  );
  return true;
}
