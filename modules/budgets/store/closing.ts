import type { Sql } from '../../../db/database.ts';
import { toldState, toldWatched } from '../../../db/paymentStates.ts';
import type { PaymentState } from '../../kernel/payment/state.ts';
import { spendingState } from '../rules/decide.ts';
import type { Period } from '../rules/period.ts';
import { periodOf } from '../rules/period.ts';
import { isDecided } from './standing.ts';

const OPEN = `from account_spending as o join payment_state as s using (tenant_id, payment_id)
  where o.state = 'open' and o.account_id = $1 and ${isDecided('s')}`;

interface OpenRow extends Record<string, unknown> {
  tenant_id: string;
  payment_id: string;
  account_id: string;
  host: string;
  amount_micro: string;
  at: Date;
  /** Of the account's budget, whose counters it stands in; null without one. */
  period: Period | null;
  state: PaymentState;
  watched: boolean;
}

/**
 * Closes what counted against an account and is decided for good (`spendingState`): what moved nothing and can no longer is taken off the
 * counters of its period. At most `most` payments a call, the oldest first, and those that wait for their chain hold up none behind them. Under
 * the lock of the account; once everything is closed a call finds nothing.
 */
export async function closeSpendings(sql: Sql, accountId: string, most: number): Promise<void> {
  const rows = await sql.query<OpenRow>(
    `select o.tenant_id, o.payment_id, o.account_id, o.host, o.amount_micro, o.at, b.budget_period as period,
         ${toldState('s')} as state, ${toldWatched('s')} as watched
       from (select o.* ${OPEN} order by o.at limit $2) as o join payment_state as s using (tenant_id, payment_id)
         left join buyer_account as b using (account_id)`,
    [accountId, most],
  );
  const closed = rows.flatMap((row) => {
    const becomes = spendingState({ state: row.state, isWatched: row.watched });
    return becomes === 'open' ? [] : [{ row, becomes }];
  });
  if (closed.length === 0) return;
  await sql.query(
    `update account_spending as o set state = closed.becomes, closed_at = now()
       from jsonb_to_recordset($1) as closed (tenant_id uuid, payment_id uuid, account_id uuid, becomes text)
      where o.tenant_id = closed.tenant_id and o.payment_id = closed.payment_id and o.account_id = closed.account_id and o.state = 'open'`,
    [JSON.stringify(closed.map(({ row, becomes }) => ({ ...row, becomes })))],
  );
  const released = closed.filter(({ becomes }) => becomes === 'released').flatMap(({ row }) => countersOf(row));
  if (released.length === 0) return;
  // Counters begin anew where the kind of period changes: what is not there was not counted.
  await sql.query(
    `update account_spent as s set micro = s.micro - gone.micro
       from (select account_id, period_start, host, sum(micro) as micro
               from jsonb_to_recordset($1) as one (account_id uuid, period_start timestamptz, host text, micro bigint)
              group by 1, 2, 3) as gone
      where s.account_id = gone.account_id and s.period_start = gone.period_start and s.host = gone.host`,
    [JSON.stringify(released)],
  );
}

/** Whether an account has at least this many payments to close. */
export async function hasDecided(sql: Sql, accountId: string, many: number): Promise<boolean> {
  const found = await sql.query(`select ${OPEN} order by o.at offset $2 limit 1`, [accountId, many - 1]);
  return found.length > 0;
}

/** The counters that a payment stands in. */
function countersOf({ account_id, host, amount_micro, at, period }: OpenRow) {
  if (period === null) return [];
  const start = new Date(periodOf(period, at.getTime()).startMs);
  return ['', host].map((of) => ({ account_id, period_start: start, host: of, micro: amount_micro }));
}
