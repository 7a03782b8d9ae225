/** Sales whose answer was lost on its way: served again for nothing, to who paid, for a day (ADR 0151). */
import { sql as text } from 'kysely';
import type { Sql } from '../../../db/database.ts';
import { sqlStates } from '../../../db/paymentStates.ts';
import { sameText } from '../../../db/sameText.ts';
import { run, tables } from '../../../db/statement.ts';
import { SETTLED_STATES } from '../../kernel/payment/state.ts';
import type { OwedTo } from '../rules/owed.ts';
import { MOST_OWED, OWED_HOURS } from '../rules/owed.ts';
import type { PaymentRef } from './payment.ts';

const OPENED = { payment: 'opened_by_payment', wallet: 'opened_by_wallet' } as const;

/**
 * True of a payment (`i` and `s`, its intake and state) whose page is owed: its site says that an answer was lost, or that it was asked for again; its
 * buyer does not say that he holds the page; it was settled within the day; some answers are left; and no licence of its payer for the page was
 * denied since.
 */
export function isOwedSql(to: OwedTo): string {
  return `(s.state in (${sqlStates(SETTLED_STATES)}) and i.mode = 'live' and i.purpose = 'page'
      and coalesce(s.settled_at, s.decided_at) > now() - interval '${OWED_HOURS} hours'
      and exists (select from page_answer as told where told.tenant_id = i.tenant_id and told.payment_id = i.payment_id
        and (told.lost_at is not null or told.again_count > 0) and told.held_at is null and told.${OPENED[to]} < ${MOST_OWED[to]})
      and not exists (select from payment_intake as later join payment_state as its using (tenant_id, payment_id)
        join denied_licence as denied on denied.tenant_id = later.tenant_id and denied.jti = its.licence_jti::text
        where later.tenant_id = i.tenant_id and ${sameText('later.payer', 'i.payer')}
          and ${sameText('later.resource_key', 'i.resource_key')} and later.accepted_at >= i.accepted_at))`;
}

/** Takes one of the answers that are owed to whoever shows the payment; false: none is. As often as it is called, at most so many are given. */
export async function takeOwed(sql: Sql, { tenantId, paymentId }: PaymentRef): Promise<boolean> {
  const taken = await run(
    sql,
    tables
      .updateTable('page_answer')
      .set({ openedByPayment: text<number>`opened_by_payment + 1` })
      .where('tenantId', '=', tenantId)
      .where('paymentId', '=', paymentId)
      .where('openedByPayment', '<', MOST_OWED.payment)
      .where(
        text.raw<boolean>(`exists (select from payment_intake as i join payment_state as s using (tenant_id, payment_id)
          where i.tenant_id = page_answer.tenant_id and i.payment_id = page_answer.payment_id and ${isOwedSql('payment')})`),
      )
      .returning('paymentId'),
  );
  return taken.length > 0;
}

/** Counts the answers that the guard has given to wallets, whose purchases are locked. */
export async function countOwed(sql: Sql, payments: readonly PaymentRef[]): Promise<void> {
  for (const { tenantId, paymentId } of payments) {
    await run(
      sql,
      tables
        .updateTable('page_answer')
        .set({ openedByWallet: text<number>`opened_by_wallet + 1` })
        .where('tenantId', '=', tenantId)
        .where('paymentId', '=', paymentId)
        .where('openedByWallet', '<', MOST_OWED.wallet),
    );
  }
}
