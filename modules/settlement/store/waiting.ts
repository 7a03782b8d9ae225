import type { Sql } from '../../../db/database.ts';
import { sqlStates } from '../../../db/paymentStates.ts';
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
