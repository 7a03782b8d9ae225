import { sql as text } from 'kysely';
import type { Database, Sql } from '../../../db/database.ts';
import type { RowOf } from '../../../db/shown.ts';
import { both, columnsOfAny, workedOut } from '../../../db/shown.ts';
import { anyOf, run, statement, tables } from '../../../db/statement.ts';
import type { Budget } from '../rules/decide.ts';
import type { Period } from '../rules/period.ts';
import { periodOf } from '../rules/period.ts';
import type { BudgetPeriod } from './alerts.ts';
import { raiseBudgetAlerts } from './alerts.ts';
import { closeSpendings, hasDecided } from './closing.ts';
import { isReleased } from './standing.ts';

/** A budget as it is stored. */
export interface StoredBudget extends Budget {
  /** Counts the changes, from 1. */
  readonly version: number;
  readonly updatedAt: Date;
}

/** What an account may spend, what counts, and when it was looked at. */
export interface AccountLedger {
  readonly accountId: string;
  readonly budget: StoredBudget | null;
  /** Start of the database transaction that read it. */
  readonly at: Date;
  /** What counts in the period of `at`, micro-USDC by host, '' for all. */
  readonly spentMicro: ReadonlyMap<string, bigint>;
}

const lock = statement<{ readonly accountIds: readonly string[] }>()(
  (place) =>
    tables
      .selectFrom('buyer_account')
      .select('accountId')
      .where('accountId', '=', anyOf(place('accountIds')))
      .orderBy('accountId')
      .forNoKeyUpdate(),
  'lock-accounts',
);

/**
 * Keeps everything that counts against these accounts as it is until the end of the database transaction. Whatever is read of it must be
 * read by a later statement, which sees what an earlier holder left.
 */
export async function lockAccounts(sql: Sql, accountIds: readonly string[]): Promise<void> {
  await lock(sql, { accountIds });
}

/** Amounts of a host, '' for all, by a start in epoch seconds. */
interface Counted {
  readonly start: string;
  readonly host: string;
  readonly micro: string;
}

const LEDGER = both(
  columnsOfAny('buyer_account b', [
    ...(['budgetPeriod', 'budgetTotalMicro', 'budgetHostMicro', 'budgetPageMicro', 'budgetApproveAboveMicro'] as const),
    ...(['budgetIsStopped', 'budgetVersion', 'budgetUpdatedAt'] as const),
  ]),
  workedOut<{ readonly accountId: string; readonly at: Date; readonly spent: readonly Counted[] }>(
    `a.account_id as "accountId", now() as at,
          coalesce((select jsonb_agg(jsonb_build_object('start', extract(epoch from period_start)::text,
            'host', host, 'micro', micro::text)) from account_spent as s where s.account_id = a.account_id and s.host = any($2)
            and s.period_start > now() - interval '32 days'), '[]') as spent`,
  ),
);
type LedgerRow = RowOf<typeof LEDGER> & { readonly released: readonly Counted[] };

const ledgersSql = (released: string): string =>
  `select ${LEDGER.text}, ${released} as released
     from unnest($1::uuid[]) as a (account_id) left join buyer_account as b using (account_id)`;

const COUNTED = ledgersSql("'[]'::jsonb");
/** With what is released and stands in the counters still, by days of UTC: a day is in one period of each kind. */
const LESS_RELEASED = ledgersSql(
  `coalesce((select jsonb_agg(jsonb_build_object('start', extract(epoch from day)::text, 'host', host, 'micro', micro::text)) from (
     select date_trunc('day', o.at, 'UTC') as day, counter.host, sum(o.amount_micro) as micro
       from account_spending as o join payment_state as p using (tenant_id, payment_id)
         cross join lateral unnest(array['', o.host]) as counter (host)
      where o.account_id = a.account_id and o.state = 'open' and o.at > now() - interval '32 days' and ${isReleased('p')}
        and counter.host = any($2) group by 1, 2) as gone), '[]')`,
);

/** What accounts may spend and what is counted of it, of hosts those named alone: what is released and was not closed yet is in it. */
export async function readLedgers(
  sql: Sql,
  accountIds: readonly string[],
  hosts: readonly string[],
): Promise<ReadonlyMap<string, AccountLedger>> {
  return ledgersOf(await sql.query<LedgerRow>(COUNTED, [accountIds, ['', ...hosts]], 'read-account-ledgers'));
}

/**
 * The same less what is released: what the budget really holds, no matter which process closed what. One statement, without a lock; it looks at each open
 * payment of the accounts, whose number `closeInSlices` keeps small.
 */
export async function readOpenLedgers(
  sql: Sql,
  accountIds: readonly string[],
  hosts: readonly string[],
): Promise<ReadonlyMap<string, AccountLedger>> {
  return ledgersOf(await sql.query<LedgerRow>(LESS_RELEASED, [accountIds, ['', ...hosts]]));
}

function ledgersOf(rows: readonly LedgerRow[]): ReadonlyMap<string, AccountLedger> {
  return new Map(rows.map((row) => [row.accountId, ledgerFromRow(row)]));
}

function ledgerFromRow(row: LedgerRow): AccountLedger {
  const budget = budgetFromRow(row);
  const spentMicro = new Map<string, bigint>();
  if (budget) {
    const { startMs, endMs } = periodOf(budget.period, row.at.getTime());
    const isNow = ({ start }: Counted): boolean => Number(start) * 1000 >= startMs && Number(start) * 1000 < endMs;
    for (const { start, host, micro } of row.spent) if (Number(start) * 1000 === startMs) spentMicro.set(host, BigInt(micro));
    for (const { host, micro } of row.released.filter(isNow)) {
      const counted = spentMicro.get(host);
      if (counted !== undefined) spentMicro.set(host, counted - BigInt(micro));
    }
  }
  return { accountId: row.accountId, budget, at: row.at, spentMicro };
}

function budgetFromRow(row: LedgerRow): StoredBudget | null {
  const { budgetPeriod: period, budgetTotalMicro: total, budgetUpdatedAt: updatedAt } = row;
  if (period === null) return null;
  if (total === null || updatedAt === null) throw new Error('a budget without its amount');
  const amount = (micro: string | null): bigint | null => (micro === null ? null : BigInt(micro));
  return {
    period,
    totalMicro: BigInt(total),
    isStopped: row.budgetIsStopped === true,
    hostMicro: amount(row.budgetHostMicro),
    pageMicro: amount(row.budgetPageMicro),
    approveAboveMicro: amount(row.budgetApproveAboveMicro),
    version: row.budgetVersion ?? 0,
    updatedAt,
  };
}

/** What an account may spend and what counts, in all and at one host; without a budget nothing is counted. Writes nothing. */
export async function readOpenLedger(sql: Sql, accountId: string, host = ''): Promise<AccountLedger | null> {
  return (await readOpenLedgers(sql, [accountId], [host])).get(accountId) ?? null;
}

/**
 * Closes payments of an account that are decided, in slices of 200, each in a database transaction of its own, so that payments which wait for
 * the account's lock wait for one slice. At most five slices a call; the lock is not taken where there is no whole slice. What it leaves is
 * counted rightly by every reader (`readOpenLedgers`); this bounds what they look at.
 */
export async function closeInSlices(database: Database, accountId: string): Promise<void> {
  for (let slice = 0; slice < MOST_SLICES; slice++) {
    if (!(await hasDecided(database, accountId, SLICE))) return;
    await database.transaction(async (sql) => {
      await lockAccounts(sql, [accountId]);
      await closeSpendings(sql, accountId, SLICE);
    });
  }
}
const SLICE = 200;
const MOST_SLICES = 5;

/**
 * Sets what an account may spend, if it is still at `version` (0: it has none), and counts again what its period holds so far. Gives what
 * stands then; 'changed' when somebody else was first, 'gone' when the account was erased. Tells of thresholds that the new limit has behind it.
 */
export function writeBudget(
  database: Database,
  accountId: string,
  budget: Budget,
  version: number,
): Promise<AccountLedger | 'changed' | 'gone'> {
  return database.transaction(async (sql) => {
    await lockAccounts(sql, [accountId]);
    const known = tables.selectFrom('buyer_account').select('accountId').where('accountId', '=', accountId);
    const [account] = await run(sql, known.where('erasedAt', 'is', null));
    if (!account) return 'gone';
    const before = (await readLedgers(sql, [accountId], [])).get(accountId);
    if ((before?.budget?.version ?? 0) !== version) return 'changed';
    await closeSpendings(sql, accountId, SLICE);
    const { period, totalMicro, hostMicro, pageMicro, approveAboveMicro, isStopped } = budget;
    await run(
      sql,
      tables
        .updateTable('buyer_account')
        .set({
          budgetPeriod: period,
          budgetTotalMicro: totalMicro.toString(),
          budgetHostMicro: hostMicro?.toString() ?? null,
          budgetPageMicro: pageMicro?.toString() ?? null,
          budgetApproveAboveMicro: approveAboveMicro?.toString() ?? null,
          budgetIsStopped: isStopped,
          budgetVersion: (column) => column('budgetVersion', '+', 1),
          budgetUpdatedAt: text<Date>`now()`,
        })
        .where('accountId', '=', accountId),
    );
    if (before?.budget?.period !== period) await countAnew(sql, { accountId, period, at: before?.at ?? new Date(0) });
    const now = await readOpenLedger(sql, accountId);
    if (now) await tellOfLimit(sql, now, before?.budget ?? null);
    return now ?? 'gone';
  });
}

/** Tells an account which thresholds of a limit that it just set lie behind what is spent, and were not reached by the limit before. */
async function tellOfLimit(sql: Sql, { accountId, budget, at, spentMicro }: AccountLedger, before: Budget | null): Promise<void> {
  if (!budget) return;
  const limitBeforeMicro = before?.period === budget.period ? before.totalMicro : 0n;
  const spent = spentMicro.get('') ?? 0n;
  const of = presentPeriod({ accountId, budget, at });
  await raiseBudgetAlerts(sql, { ...of, limitMicro: budget.totalMicro, limitBeforeMicro, beforeMicro: spent, spentMicro: spent });
}

/** The period that a ledger was read in. */
export function presentPeriod({
  accountId,
  budget,
  at,
}: Pick<AccountLedger, 'accountId' | 'at'> & { readonly budget: Budget }): BudgetPeriod {
  const { startMs, endMs } = periodOf(budget.period, at.getTime());
  return { accountId, period: budget.period, periodStart: new Date(startMs), periodEnd: new Date(endMs) };
}

/**
 * Counters of the present period, from what counts, and of its neighbours: a payment whose database transaction began before midnight may
 * wait for the lock until after it, and so may this one. Under the account's lock.
 */
async function countAnew(
  sql: Sql,
  { accountId, period, at }: { readonly accountId: string; readonly period: Period; readonly at: Date },
): Promise<void> {
  const present = periodOf(period, at.getTime());
  const spans = [periodOf(period, present.startMs - 1), present, periodOf(period, present.endMs)];
  await run(sql, tables.deleteFrom('account_spent').where('accountId', '=', accountId));
  await sql.query(
    `insert into account_spent (account_id, period_start, host, micro)
     select $1, span.starts, coalesce(host, ''), sum(amount_micro)
       from unnest($2::timestamptz[], $3::timestamptz[]) as span (starts, ends)
         join account_spending on account_id = $1 and at >= span.starts and at < span.ends and state <> 'released'
      group by grouping sets ((span.starts), (span.starts, host))`,
    [accountId, spans.map(({ startMs }) => new Date(startMs)), spans.map(({ endMs }) => new Date(endMs))],
  );
}
