/** Sales whose answer was lost on its way: served again for nothing, to who signs another payment for them, for a day (ADR 0151). */
import { sql as text } from 'kysely';
import type { Sql } from '../../../db/database.ts';
import { sqlStates } from '../../../db/paymentStates.ts';
import { sameText } from '../../../db/sameText.ts';
import { run, tables } from '../../../db/statement.ts';
import { SETTLED_STATES } from '../../kernel/payment/state.ts';
import { MOST_OWED, OWED_HOURS } from '../rules/owed.ts';
import type { PaymentRef } from './payment.ts';

/**
 * True of a payment for a read (`i` and `s`, its intake and state) whose page is owed: its site says that an answer was lost, or that it was asked for again; its
 * buyer does not say that he holds the page; it was settled within the day; some answers are left; and no licence of its payer for the page was
 * denied since.
 */
export const IS_OWED = `(s.state in (${sqlStates(SETTLED_STATES)}) and i.mode = 'live' and i.purpose = 'page' and i.kind = 'read'
      and coalesce(s.settled_at, s.decided_at) > now() - interval '${OWED_HOURS} hours'
      and exists (select from page_answer as told where told.tenant_id = i.tenant_id and told.payment_id = i.payment_id
        and (told.lost_at is not null or told.again_count > 0) and told.held_at is null and told.owed_given < ${MOST_OWED})
      and not exists (select from payment_intake as later join payment_state as its using (tenant_id, payment_id)
        join denied_licence as denied on denied.tenant_id = later.tenant_id and denied.jti = its.licence_jti::text
        where later.tenant_id = i.tenant_id and ${sameText('later.payer', 'i.payer')}
          and ${sameText('later.resource_key', 'i.resource_key')} and later.accepted_at >= i.accepted_at))`;

/**
 * Counts the licences that the guard gives for sales that are owed, whose purchases are locked; the row's check ends what would be one too many. All
 * at once, since a commit may follow at once, and in the order in which a site's words lock the same rows.
 */
export async function countOwed(sql: Sql, payments: readonly PaymentRef[]): Promise<void> {
  const inOrder = payments.toSorted((a, b) => (a.paymentId < b.paymentId ? -1 : 1));
  await Promise.all(
    inOrder.map(({ tenantId, paymentId }) =>
      run(
        sql,
        tables
          .updateTable('page_answer')
          .set({ owedGiven: text<number>`owed_given + 1` })
          .where('tenantId', '=', tenantId)
          .where('paymentId', '=', paymentId),
      ),
    ),
  );
}
