import { ANSWERED_STATES } from '../../domain/payment/state.ts';
import type { Sql } from '../database.ts';
import type { Payment, PaymentRef, PaymentRow } from './payment.ts';
import { PAYMENT_COLUMNS, paymentFromRow } from './payment.ts';
import { sqlStates } from './states.ts';

/**
 * Those of the given payments that are decided, in one query (safety 6). A superseded payment counts only once its
 * successor is decided, too.
 */
export async function listDecided(sql: Sql, refs: readonly PaymentRef[]): Promise<Payment[]> {
  if (refs.length === 0) return [];
  const rows = await sql.query<PaymentRow & Record<string, unknown>>(
    `select ${PAYMENT_COLUMNS} from payment_state as s
       join unnest($1::uuid[], $2::uuid[]) as wanted (tenant_id, payment_id) using (tenant_id, payment_id)
       join payment_intake as i using (tenant_id, payment_id)
       left join payment_state as successor on successor.tenant_id = s.tenant_id and successor.payment_id = s.successor_id
      where s.state in (${sqlStates(ANSWERED_STATES)})
         or (s.state = 'superseded' and successor.state in (${sqlStates(ANSWERED_STATES)}))`,
    [refs.map((ref) => ref.tenantId), refs.map((ref) => ref.paymentId)],
  );
  return rows.map(paymentFromRow);
}
