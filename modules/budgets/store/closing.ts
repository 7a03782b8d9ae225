import type { Sql } from '../../../db/database.ts';
import { toldState, toldWatched } from '../../../db/paymentStates.ts';
import type { RowOf } from '../../../db/shown.ts';
import { both, columnsOf, columnsOfAny, workedOut } from '../../../db/shown.ts';
import type { PaymentState } from '../../kernel/payment/state.ts';
import { spendingState } from '../rules/decide.ts';
import { periodOf } from '../rules/period.ts';
import { isDecided } from './standing.ts';

const OPEN = `from account_spending as o join payment_state as s using (tenant_id, payment_id)
  where o.state = 'open' and o.account_id = $1 and ${isDecided('s')}`;

const DECIDED = both(
  both(
    columnsOf('account_spending o', ['tenantId', 'paymentId', 'accountId', 'host', 'amountMicro', 'at']),
    // Of the account's budget, whose counters it stands in; null without one.
    columnsOfAny('buyer_account b', ['budgetPeriod']),
  ),
  workedOut<{ readonly state: PaymentState; readonly watched: boolean }>(
    `${toldState('s')} as state, ${toldWatched('s')} as watched`,
  ),
);

/**
 * Closes what counted against an account and is decided for good (`spendingState`): what moved nothing and can no longer is taken off the
 * counters of its period. At most `most` payments a call, the oldest first, and those that wait for their chain hold up none behind them. Under
 * the lock of the account; once everything is closed a call finds nothing.
 */
export async function closeSpendings(sql: Sql, accountId: string, most: number): Promise<void> {
  const rows = await sql.query<RowOf<typeof DECIDED>>(
    `select ${DECIDED.text}
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
       from jsonb_to_recordset($1) as closed ("tenantId" uuid, "paymentId" uuid, "accountId" uuid, becomes text)
      where o.tenant_id = closed."tenantId" and o.payment_id = closed."paymentId" and o.account_id = closed."accountId" and o.state = 'open'`,
    [JSON.stringify(closed.map(({ row, becomes }) => ({ ...row, becomes })))],
  );
  const released = closed.filter(({ becomes }) => becomes === 'released').flatMap(({ row }) => countersOf(row));
  if (released.length === 0) return;
  // Counters begin anew where the kind of period changes: what is not there was not counted.
  await sql.query(
    `update account_spent as s set micro = s.micro - gone.micro
       from (select "accountId", "periodStart", host, sum(micro) as micro
               from jsonb_to_recordset($1) as one ("accountId" uuid, "periodStart" timestamptz, host text, micro bigint)
              group by 1, 2, 3) as gone
      where s.account_id = gone."accountId" and s.period_start = gone."periodStart" and s.host = gone.host`,
    [JSON.stringify(released)],
  );
}

/** Whether an account has at least this many payments to close. */
export async function hasDecided(sql: Sql, accountId: string, many: number): Promise<boolean> {
  const found = await sql.query(`select ${OPEN} order by o.at offset $2 limit 1`, [accountId, many - 1]);
  return found.length > 0;
}

/** The counters that a payment stands in. */
function countersOf({ accountId, host, amountMicro: micro, at, budgetPeriod: period }: RowOf<typeof DECIDED>) {
  if (period === null) return [];
  const periodStart = new Date(periodOf(period, at.getTime()).startMs);
  return ['', host].map((of) => ({ accountId, periodStart, host: of, micro }));
}
