import { sql as text } from 'kysely';
import type { Sql } from '../../../db/database.ts';
import { sqlStates } from '../../../db/paymentStates.ts';
import { statement, tables } from '../../../db/statement.ts';
import { unseenLists } from '../../../db/unseen.ts';
import { ANSWERED_STATES } from '../../kernel/payment/state.ts';
import type { Payment, PaymentRef, PaymentRow } from './payment.ts';
import { intakeOf, PAYMENT_COLUMNS, paymentFromRow, stateOf } from './payment.ts';

/**
 * Those of the given payments that are decided, in one query (safety 6). A superseded payment counts only once its
 * successor is decided, too.
 */
export async function listDecided(sql: Sql, refs: readonly PaymentRef[]): Promise<Payment[]> {
  if (refs.length === 0) return [];
  const rows = await sql.query<PaymentRow & Record<string, unknown>>(
    `select ${PAYMENT_COLUMNS} from unnest(${unseenLists(['uuid', 'uuid'])}) as wanted (tenant_id, payment_id)
       cross join lateral ${stateOf('wanted')} as s cross join lateral ${intakeOf('wanted')} as i
      where s.state in (${sqlStates(ANSWERED_STATES)})
         or (s.state = 'superseded' and (select state from payment_state as successor
           where successor.tenant_id = s.tenant_id and successor.payment_id = s.successor_id) in (${sqlStates(ANSWERED_STATES)}))`,
    [refs.map((ref) => ref.tenantId), refs.map((ref) => ref.paymentId)],
    'list-decided',
  );
  return rows.map(paymentFromRow);
}

/** A payment that waits for a batch, and whether it has waited long enough for somebody to have taken it. */
export interface WaitingRef extends PaymentRef {
  readonly isDue: boolean;
}

/** Those of some payments that still wait for a batch; `isDue` when they have for `dueMs`. */
export async function listStillWaiting(sql: Sql, refs: readonly PaymentRef[], dueMs: number): Promise<readonly WaitingRef[]> {
  if (refs.length === 0) return [];
  const rows = await sql.query<{ tenant_id: string; payment_id: string; is_due: boolean }>(
    `select tenant_id, payment_id, accepted_at < now() - $3 * interval '1 millisecond' as is_due from payment_state
       join unnest($1::uuid[], $2::uuid[]) as asked (tenant_id, payment_id) using (tenant_id, payment_id)
      where coalesce(state, '') = 'accepted'`,
    [refs.map(({ tenantId }) => tenantId), refs.map(({ paymentId }) => paymentId), dueMs],
  );
  return rows.map((row) => ({ tenantId: row.tenant_id, paymentId: row.payment_id, isDue: row.is_due }));
}

const claimed = statement<{ network: string; withinMs: number }>()(
  (place) =>
    tables
      .selectFrom('settlement_batch')
      .select('batchId')
      .where('network', '=', place('network'))
      .where('kind', '=', text.lit('settle'))
      .where('createdAt', '>', text<Date>`now() - ${place('withinMs')} * interval '1 millisecond'`)
      .orderBy('createdAt', 'desc')
      .limit(text.lit(1)),
  'is-claiming',
);

/** True when a batch of a network was claimed within the last `withinMs`: somebody is at work, and comes to what waits. */
export async function isClaiming(sql: Sql, network: string, withinMs: number): Promise<boolean> {
  return (await claimed(sql, { network, withinMs })).length > 0;
}
