import type { Budget } from '../../domain/budget/decide.ts';
import type { Period } from '../../domain/budget/period.ts';
import { periodOf } from '../../domain/budget/period.ts';
import type { Database, Sql } from '../database.ts';
import { closeSpendings } from './closing.ts';

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

/**
 * Keeps everything that counts against these accounts as it is until the end of the database transaction. Whatever is read of it must be
 * read by a later statement, which sees what an earlier holder left.
 */
export async function lockAccounts(sql: Sql, accountIds: readonly string[]): Promise<void> {
  await sql.query(
    'select 1 from buyer_account where account_id = any($1::uuid[]) order by account_id for no key update',
    [accountIds],
    'lock-accounts',
  );
}

interface LedgerRow extends Record<string, unknown> {
  account_id: string;
  at: Date;
  period: Period | null;
  total_micro: string;
  host_micro: string | null;
  page_micro: string | null;
  approve_above_micro: string | null;
  is_stopped: boolean;
  version: number;
  updated_at: Date;
  spent: readonly { readonly start: string; readonly host: string; readonly micro: string }[];
}

/** What accounts may spend and have spent, of hosts those named alone. */
export async function readLedgers(
  sql: Sql,
  accountIds: readonly string[],
  hosts: readonly string[],
): Promise<ReadonlyMap<string, AccountLedger>> {
  const rows = await sql.query<LedgerRow>(
    `select a.account_id, now() as at, b.period, b.total_micro, b.host_micro, b.page_micro, b.approve_above_micro, b.is_stopped,
            b.version, b.updated_at, coalesce((select jsonb_agg(jsonb_build_object('start', extract(epoch from period_start)::text,
              'host', host, 'micro', micro::text)) from account_spent as s where s.account_id = a.account_id and s.host = any($2)
              and s.period_start > now() - interval '32 days'), '[]') as spent
       from unnest($1::uuid[]) as a (account_id) left join account_budget as b using (account_id)`,
    [accountIds, ['', ...hosts]],
    'read-account-ledgers',
  );
  return new Map(rows.map((row) => [row.account_id, ledgerFromRow(row)]));
}

function ledgerFromRow(row: LedgerRow): AccountLedger {
  const budget = row.period === null ? null : budgetFromRow({ ...row, period: row.period });
  const startMs = budget && periodOf(budget.period, row.at.getTime()).startMs;
  const own = row.spent.filter(({ start }) => Number(start) * 1000 === startMs);
  return { accountId: row.account_id, budget, at: row.at, spentMicro: new Map(own.map((s) => [s.host, BigInt(s.micro)])) };
}

function budgetFromRow(row: LedgerRow & { readonly period: Period }): StoredBudget {
  const amount = (text: string | null): bigint | null => (text === null ? null : BigInt(text));
  return {
    ...{ period: row.period, totalMicro: BigInt(row.total_micro), isStopped: row.is_stopped },
    ...{
      hostMicro: amount(row.host_micro),
      pageMicro: amount(row.page_micro),
      approveAboveMicro: amount(row.approve_above_micro),
    },
    ...{ version: row.version, updatedAt: row.updated_at },
  };
}

/** What an account may spend and has spent in all and at one host, once what can no longer count is released. Null: no such account. */
export function readSettledLedger(database: Database, accountId: string, host = ''): Promise<AccountLedger | null> {
  return database.transaction(async (sql) => {
    await lockAccounts(sql, [accountId]);
    await closeSpendings(sql, [accountId]);
    return (await readLedgers(sql, [accountId], [host])).get(accountId) ?? null;
  });
}

/**
 * Sets what an account may spend, if it is still at `version` (0: it has none), and counts anew what its period holds so far. Gives what
 * stands then; 'changed' when somebody else was first, 'gone' when the account was erased.
 */
export function writeBudget(
  database: Database,
  accountId: string,
  budget: Budget,
  version: number,
): Promise<AccountLedger | 'changed' | 'gone'> {
  return database.transaction(async (sql) => {
    await lockAccounts(sql, [accountId]);
    const [account] = await sql.query('select 1 from buyer_account where account_id = $1 and erased_at is null', [accountId]);
    if (!account) return 'gone';
    const before = (await readLedgers(sql, [accountId], [])).get(accountId);
    if ((before?.budget?.version ?? 0) !== version) return 'changed';
    await closeSpendings(sql, [accountId]);
    const { period, totalMicro, hostMicro, pageMicro, approveAboveMicro, isStopped } = budget;
    const amounts = [totalMicro, hostMicro, pageMicro, approveAboveMicro].map((micro) => micro?.toString() ?? null);
    await sql.query(
      `insert into account_budget (account_id, period, total_micro, host_micro, page_micro, approve_above_micro, is_stopped)
       values ($1, $2, $3, $4, $5, $6, $7)
       on conflict (account_id) do update set period = excluded.period, total_micro = excluded.total_micro,
         host_micro = excluded.host_micro, page_micro = excluded.page_micro, approve_above_micro = excluded.approve_above_micro,
         is_stopped = excluded.is_stopped, version = account_budget.version + 1, updated_at = now()`,
      [accountId, period, ...amounts, isStopped],
    );
    if (before?.budget?.period !== period) await countAnew(sql, { accountId, period, at: before?.at ?? new Date(0) });
    return (await readLedgers(sql, [accountId], [])).get(accountId) ?? 'gone';
  });
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
  await sql.query('delete from account_spent where account_id = $1', [accountId]);
  await sql.query(
    `insert into account_spent (account_id, period_start, host, micro)
     select $1, span.starts, coalesce(host, ''), sum(amount_micro)
       from unnest($2::timestamptz[], $3::timestamptz[]) as span (starts, ends)
         join account_spending on account_id = $1 and at >= span.starts and at < span.ends and state <> 'released'
      group by grouping sets ((span.starts), (span.starts, host))`,
    [accountId, spans.map(({ startMs }) => new Date(startMs)), spans.map(({ endMs }) => new Date(endMs))],
  );
}
