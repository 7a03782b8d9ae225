/** What ends after a while: each statement takes a slice, so that none holds locks for long. Nothing of money is deleted here. */

import { sql as text } from 'kysely';
import type { Sql } from '../../../db/database.ts';
import { run, tables } from '../../../db/statement.ts';

/** Rows that go once a moment in them has passed; `$1` is the moment, `$2` how many at most. */
export interface Ending {
  /** What it is called in figures. */
  readonly kind: string;
  readonly table: string;
  /** Holds for rows that ended before `$1`. */
  readonly ended: string;
}

const EXPIRED = 'expires_at < $1';
const ofExpiry = (table: string): Ending => ({ kind: table, table, ended: EXPIRED });

/** What counts once (e-mails of a day included), scopes of access tokens, sessions of the console: void once their time is over. */
export const SHORT_LIVED: readonly Ending[] = ['used_once', 'access_scope', 'console_session'].map(ofExpiry);

/** Request keys are honoured for a day. */
export const REQUEST_KEYS: Ending = { kind: 'idempotency_key', table: 'idempotency_key', ended: 'created_at < $1' };

/** Places of names: requests of a day are reported for a week, and the day after it begins with its names. */
export const AGENT_NAMES: Ending = { kind: 'agent_name', table: 'agent_name', ended: 'day < $1' };

/** Reports of use are kept as long as observations are. */
export const USAGE_REPORTS: Ending = { kind: 'usage_report', table: 'usage_report', ended: 'at < $1' };

/** Strikes count for an hour (safety 19). */
export const STRIKES: Ending = { kind: 'payer_strike', table: 'payer_strike', ended: 'last_at < $1' };

/** Credentials that let nobody in any more. */
export const CREDENTIALS: readonly Ending[] = [
  { kind: 'buyer_key', table: 'buyer_key', ended: 'revoked_at < $1' },
  { kind: 'oauth_client', table: 'oauth_client', ended: 'revoked_at < $1' },
  {
    kind: 'oauth_client_unused',
    table: 'oauth_client',
    ended: `last_used_at < $1 and not exists (select from account_spending where account_id = oauth_client.account_id)
      and not exists (select from account_licence where account_id = oauth_client.account_id)`,
  },
  { kind: 'owner_token', table: 'owner_token', ended: 'least(revoked_at, expires_at) < $1' },
  {
    kind: 'member_invite_hash',
    table: 'member_invite_hash',
    ended: `exists (select from member where member.tenant_id = member_invite_hash.tenant_id
      and member.author_id = member_invite_hash.author_id and member.invite_expires_at < $1)`,
  },
];

/** What names a buyer account. */
const OF_ACCOUNTS = [
  'buyer_key',
  'oauth_client',
  'licence_offer',
  'open_licence_offer',
  'licence',
  'account_licence',
  'account_notice',
  'account_spending',
  'account_spent',
  'account_approval',
  'account_alert',
] as const;

/** Accounts into which nobody can sign in any more, and that no row names: those of clients that registered and were never used. */
export const ACCOUNTS: Ending = {
  kind: 'buyer_account',
  table: 'buyer_account',
  ended: `created_at < $1 and wallet is null and erased_at is null and budget_updated_at is null and alert_url is null
    ${OF_ACCOUNTS.map((table) => `and not exists (select from ${table} where ${table}.account_id = buyer_account.account_id)`).join('\n    ')}`,
};

/** Alert e-mail; what was not sent within a day is not sent at all. */
export const MAILS: Ending = { kind: 'alert_mail', table: 'alert_mail', ended: 'created_at < $1' };

/** Alerts of budgets that wait for nothing; the months they may be told again in are over by then. */
export const BUDGET_ALERTS: Ending = {
  kind: 'account_alert',
  table: 'account_alert',
  ended: "state <> 'waiting' and period_end < $1",
};

/** Directories of agents that did not answer for long: nobody is believed by their keys any more. */
export const AGENT_DIRECTORIES: Ending = { kind: 'agent_directory', table: 'agent_directory', ended: 'read_at < $1' };

/** What credits APIs said of pages that nobody asked about since; titles of reports come from them, too. */
export const CREDITS_COPIES: Ending = { kind: 'credits_copy', table: 'credits_copy', ended: 'fetched_at < $1' };

/** Credits that imports replaced: payments rest on them for ten minutes. */
export const FORMER_CREDITS: Ending = { kind: 'former_credits', table: 'former_credits', ended: 'ended_at < $1' };

/** Deletes up to `most` rows that ended before `before`; how many. Again: the next ones. Request keys are found by index, the small tables read. */
export async function forgetSlice(sql: Sql, { table, ended }: Ending, before: Date, most: number): Promise<number> {
  const rows = await sql.query(
    `with old as (select ctid from ${table} where ${ended} limit $2)
     delete from ${table} using old where ${table}.ctid = old.ctid returning 1`,
    [before, most],
  );
  return rows.length;
}

/** Deletes some events of a site that are older than `before`, with deliveries and attempts; how many. One that is still to be delivered stays. */
export async function forgetEvents(sql: Sql, tenantId: string, before: Date, most: number): Promise<number> {
  const forgotten = text<number>`forget_tenant_events(${tenantId}, ${before}, ${most})`;
  const [row] = await run(sql, tables.selectNoFrom(forgotten.as('gone')));
  return row?.gone ?? 0;
}

/** Up to when a job has gone through old rows; null: it never has. */
export async function findProgress(sql: Sql, what: string): Promise<Date | null> {
  const [row] = await run(sql, tables.selectFrom('retention_progress').select('doneBefore').where('what', '=', what));
  return row?.doneBefore ?? null;
}

/** Notes that everything before a moment was gone through; it only goes forward. */
export async function markProgress(sql: Sql, what: string, doneBefore: Date): Promise<void> {
  const furthest = text<Date>`greatest(retention_progress.done_before, excluded.done_before)`;
  await run(
    sql,
    tables
      .insertInto('retention_progress')
      .values({ what, doneBefore })
      .onConflict((known) => known.column('what').doUpdateSet({ doneBefore: furthest })),
  );
}

/** What stands where a User-Agent stood. */
export const REMOVED = 'removed';

/** Where User-Agents stand: the table, its time and id, and how those seen are taken out. */
export const USER_AGENTS = {
  observation: {
    table: 'observation',
    id: 'observation_id',
    at: 'at',
    gone: `update observation as old set agent_ua = '${REMOVED}' from seen
        where old.tenant_id = $1 and old.at >= $2 and old.at < $4 and old.at = seen.at and old.observation_id = seen.id
          and old.agent_ua <> '${REMOVED}' returning 1`,
    count: 'select count(*)::int from gone',
  },
  payment: {
    table: 'payment_intake',
    id: 'payment_id',
    at: 'accepted_at',
    gone: 'select remove_payment_agents($1, array(select id from seen)) as removed',
    count: 'select removed from gone',
  },
} as const;

/** A place in the rows of a site, by time. */
export interface PlaceInTime {
  readonly at: Date;
  readonly id: string;
}

/** The place before every row from `at` on. */
export const startOf = (at: Date): PlaceInTime => ({ at, id: '00000000-0000-0000-0000-000000000000' });

/**
 * Looks at up to `most` rows of a site behind a place and before a moment, in order of time, and takes out their User-Agents. Says how
 * many it took and how far it came: null when that was all.
 */
export async function removeUserAgents(
  sql: Sql,
  which: keyof typeof USER_AGENTS,
  slice: { readonly tenantId: string; readonly after: PlaceInTime; readonly before: Date; readonly most: number },
): Promise<{ readonly removed: number; readonly next: PlaceInTime | null }> {
  const { table, id, at, gone, count } = USER_AGENTS[which];
  const { tenantId, after, before, most } = slice;
  const [row] = await sql.query<{ removed: number; looked: number; at: Date; id: string }>(
    `with seen as materialized (
       select ${at} as at, ${id} as id from ${table}
        where tenant_id = $1 and ${at} >= $2 and ${at} < $4 and (${at}, ${id}) > ($2, $3) order by ${at}, ${id} limit $5
     ), gone as materialized (
       ${gone}
     )
     select (${count}) as removed, (select count(*)::int from seen) as looked, last.at, last.id
       from (select at, id from seen order by at desc, id desc limit 1) as last`,
    [tenantId, after.at, after.id, before, most],
  );
  if (!row) return { removed: 0, next: null };
  return { removed: row.removed, next: row.looked < most ? null : { at: row.at, id: row.id } };
}
