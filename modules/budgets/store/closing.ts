import { sql as text } from 'kysely';
import type { Sql } from '../../../db/database.ts';
import { toldState, toldWatched } from '../../../db/paymentStates.ts';
import { acrossSites, statement } from '../../../db/statement.ts';
import type { PaymentState } from '../../kernel/payment/state.ts';
import { spendingState } from '../rules/decide.ts';
import { periodOf } from '../rules/period.ts';
import { isDecided } from './standing.ts';

/** What counts against an account and is decided for good, the oldest first. */
const decidedOf = (accountId: string) =>
  acrossSites('an account')
    .selectFrom('account_spending as o')
    .innerJoin('payment_state as s', (join) =>
      join.onRef('s.tenantId', '=', 'o.tenantId').onRef('s.paymentId', '=', 'o.paymentId'),
    )
    .where('o.state', '=', 'open')
    .where('o.accountId', '=', accountId)
    .where(text.raw<boolean>(isDecided('s')))
    .orderBy('o.at');

/** Some of them. `budgetPeriod`: of the account's budget, whose counters they stand in; null without one. */
const readDecided = statement<{ readonly accountId: string; readonly most: number }>()((place) =>
  decidedOf(place('accountId'))
    .leftJoin('buyer_account as b', 'b.accountId', 'o.accountId')
    .select(['o.tenantId', 'o.paymentId', 'o.accountId', 'o.host', 'o.amountMicro', 'o.at', 'b.budgetPeriod'])
    .select([text.raw<PaymentState>(toldState('s')).as('state'), text.raw<boolean>(toldWatched('s')).as('watched')])
    .limit(place('most')),
);
type Decided = Awaited<ReturnType<typeof readDecided>>[number];

/** The one after `fewer` of them. */
const readBehind = statement<{ readonly accountId: string; readonly fewer: number }>()((place) =>
  decidedOf(place('accountId')).select('o.paymentId').offset(place('fewer')).limit(1),
);

/**
 * Closes what counted against an account and is decided for good (`spendingState`): what moved nothing and can no longer is taken off the
 * counters of its period. At most `most` payments a call, the oldest first, and those that wait for their chain hold up none behind them. Under
 * the lock of the account; once everything is closed a call finds nothing.
 */
export async function closeSpendings(sql: Sql, accountId: string, most: number): Promise<void> {
  const rows = await readDecided(sql, { accountId, most });
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
  // Counters begin again where the kind of period changes: what is not there was not counted.
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
  return (await readBehind(sql, { accountId, fewer: many - 1 })).length > 0;
}

/** The counters that a payment stands in. */
function countersOf({ accountId, host, amountMicro: micro, at, budgetPeriod: period }: Decided) {
  if (period === null) return [];
  const periodStart = new Date(periodOf(period, at.getTime()).startMs);
  return ['', host].map((of) => ({ accountId, periodStart, host: of, micro }));
}
