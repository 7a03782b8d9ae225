/** Closed months of money (ADR 0050): the statements that move what ended out of the tables that the service writes. As the tables' owner. */

import { sql as text } from 'kysely';
import { withinBriefLocks } from '../../../../db/briefLocks.ts';
import type { Database, Sql } from '../../../../db/database.ts';
import { sqlStates, toldState, toldWatched } from '../../../../db/paymentStates.ts';
import { acrossSites, run } from '../../../../db/statement.ts';
import { OPEN_STATES, PAYMENT_STATES } from '../../../kernel/payment/state.ts';
import type { Month } from '../../../kernel/time/months.ts';

const all = acrossSites('the operator');

/** The tables that have months, each with the column that says which; a row must be moved before the one it names. */
const TABLES = {
  leg: 'at',
  crossing: 'at',
  payment_state: 'accepted_at',
  payment_intake: 'accepted_at',
  chain_transfer: 'block_time',
} as const;
type Table = keyof typeof TABLES;
const NAMES = Object.keys(TABLES) as readonly Table[];

/** What was moved into a month. */
export interface MonthCounts {
  readonly payments: number;
  readonly crossings: number;
  readonly legs: number;
  readonly transfers: number;
  /** Σ of its crossings; corrections take theirs back. */
  readonly micro: bigint;
}

/** A month that was closed. */
export interface ClosedMonth extends MonthCounts {
  /** YYYY-MM. */
  readonly month: string;
  readonly state: 'attached' | 'detached';
  readonly closedAt: Date;
}

interface CountRow {
  payments: string;
  crossings: string;
  legs: string;
  transfers: string;
  micro: string;
}

const countsOf = (row: CountRow): MonthCounts => ({
  payments: Number(row.payments),
  crossings: Number(row.crossings),
  legs: Number(row.legs),
  transfers: Number(row.transfers),
  micro: BigInt(row.micro),
});

/** The database's clock, epoch milliseconds. */
export async function readClock(sql: Sql): Promise<number> {
  const [row] = await run(sql, all.selectNoFrom(text<Date>`clock_timestamp()`.as('now')));
  if (!row) throw new Error('the database has no clock');
  return row.now.getTime();
}

/** Every month that was closed, the oldest first, as its record says. */
export async function listClosedMonths(sql: Sql): Promise<ClosedMonth[]> {
  const months = all
    .selectFrom('archive.month')
    .select(['month', 'state', 'closedAt', 'payments', 'crossings', 'legs', 'transfers', 'micro']);
  const rows = await run(sql, months.orderBy('month'));
  return rows.map(({ month, state, closedAt, ...row }) => ({ month: month.slice(0, 7), state, closedAt, ...countsOf(row) }));
}

const partOf = (table: Table, { name }: Month): string => `archive.${table}_${name.replace('-', '_')}`;
const bounds = ({ fromMs, toMs }: Month): string =>
  `from ('${new Date(fromMs).toISOString()}') to ('${new Date(toMs).toISOString()}')`;
const dayOf = ({ fromMs }: Month): string => new Date(fromMs).toISOString().slice(0, 10);

/** Makes the tables of a month and its record; a second call changes nothing. They are attached when made, for which no reader waits. */
export function openClosedMonth(owner: Database, month: Month): Promise<'done' | 'busy'> {
  return withinBriefLocks(owner, async (sql): Promise<'done'> => {
    const opened = all.insertInto('archive.month').values({ month: dayOf(month) });
    const made = await run(sql, opened.onConflict((known) => known.doNothing()).returning('month'));
    if (made.length === 0) return 'done';
    for (const table of NAMES) {
      await sql.query(`create table ${partOf(table, month)} (like archive.${table} including all)`);
      await sql.query(`alter table archive.${table} attach partition ${partOf(table, month)} for values ${bounds(month)}`);
    }
    return 'done';
  });
}

/**
 * Locks that one connection takes to read closed months (each is opened for each table and index, by a question that names no time), and what the
 * server has room for. Where that is less, what everybody holds together fills the one table of locks, and payments fail for want of a place in it.
 */
export async function readLockRoom(
  owner: Sql,
): Promise<{ readonly monthLocks: number; readonly months: number; readonly room: number }> {
  const [row] = await owner.query<{ locks: string; months: string; room: string }>(
    `select (select count(*) from pg_class where relnamespace = 'archive'::regnamespace and relkind in ('p', 'I')) as locks,
       (select count(*) from archive.month where state = 'attached') as months, current_setting('max_locks_per_transaction') as room`,
  );
  if (!row) throw new Error('the server says nothing of its locks');
  return { monthLocks: Number(row.locks), months: Number(row.months), room: Number(row.room) };
}

/** Every site that has payments of a month in the tables that the service writes. */
export async function listTenantsOf(sql: Sql, month: Month): Promise<string[]> {
  const rows = await run(
    sql,
    all
      .selectFrom('tenant')
      .select('tenantId')
      .where(({ exists, selectFrom }) =>
        exists(
          selectFrom('payment_intake as i')
            .select('i.paymentId')
            .whereRef('i.tenantId', '=', 'tenant.tenantId')
            .where('i.acceptedAt', '>=', new Date(month.fromMs))
            .where('i.acceptedAt', '<', new Date(month.toMs)),
        ),
      )
      .orderBy('tenantId'),
  );
  return rows.map(({ tenantId }) => tenantId);
}

/** Where a slice begins: after this payment. */
export interface SlicePlace {
  readonly at: string;
  readonly paymentId: string;
}

/** What a slice of a month did. */
export interface Slice {
  readonly moved: number;
  /** Payments that stay: something of them is open, or of another month. */
  readonly kept: number;
  /** Where the next one begins; null after the last. */
  readonly next: SlicePlace | null;
}

/** States in which a payment may go; what is settled goes when it is final, and mock money, which never is. */
const ENDED = PAYMENT_STATES.filter((state) => state !== 'settled' && !OPEN_STATES.includes(state));

/**
 * True for payment `i` with its state `s` of which nothing is open (a licence that runs is asked for again and again), and all of which is
 * of the month ($2, $3).
 */
const IS_OVER = `(${toldState('s')} in (${sqlStates(ENDED)}) or s.mode = 'mock' and s.state = 'settled')
  and not ${toldWatched('s')} and i.at >= $2 and i.at < $3
  and not exists (select from crossing as c where c.tenant_id = i.tenant_id and c.payment_id = i.payment_id and (c.at < $2 or c.at >= $3))
  and not exists (select from account_spending as o where o.tenant_id = i.tenant_id and o.payment_id = i.payment_id and o.state = 'open')
  and not exists (select from licence as l where l.tenant_id = i.tenant_id and l.jti = i.payment_id and l.revoked_at is null
    and l.period_until > now() - interval '1 day')
  and not exists (select from crossing as c join unannounced_crossing as u
      on u.tenant_id = c.tenant_id and c.crossing_id = any (u.crossing_ids)
    where c.tenant_id = i.tenant_id and c.payment_id = i.payment_id)
  and not exists (select from crossing as c join webhook_event_leg using (tenant_id, crossing_id)
    where c.tenant_id = i.tenant_id and c.payment_id = i.payment_id)`;

/**
 * Moves some payments of a site and month into the month's tables, with everything of them, in one statement: a reader sees each once. What is not
 * over stays. The counters of the month go with it.
 */
export async function moveSlice(
  owner: Sql,
  month: Month,
  { tenantId, after, limit }: { readonly tenantId: string; readonly after: SlicePlace | null; readonly limit: number },
): Promise<Slice> {
  const columns = await columnsOf(owner);
  const move = (table: Table, which: string): string =>
    `${table}_gone as (delete from public.${table} as t using ${which} returning t.*),
     ${table}_kept as (insert into archive.${table} (${columns[table]}) select ${columns[table]} from ${table}_gone returning 1)`;
  const ofDue = 'due where t.tenant_id = due.tenant_id and t.payment_id = due.payment_id';
  const [row] = await owner.query<{ moved: string; seen: string; last_at: string | null; last_id: string | null }>(
    `with seen as materialized (
       select i.tenant_id, i.payment_id, i.accepted_at, i.at from payment_intake as i
        where i.tenant_id = $1 and i.accepted_at >= $2 and i.accepted_at < $3
          and ($4::timestamptz is null or (i.accepted_at, i.payment_id) > ($4, $5::uuid))
        order by i.accepted_at, i.payment_id limit $6
     ), due as materialized (
       select i.tenant_id, i.payment_id from seen as i join payment_state as s using (tenant_id, payment_id) where ${IS_OVER} for update of s
     ), told as materialized (
       select c.tenant_id, c.crossing_id from crossing as c join due using (tenant_id, payment_id)
     ), ${move('leg', 'told where t.tenant_id = told.tenant_id and t.crossing_id = told.crossing_id')},
     ${move('crossing', ofDue)}, ${move('payment_state', ofDue)}, ${move('payment_intake', ofDue)},
     counted as (
       update archive.month set payments = payments + (select count(*) from payment_intake_kept),
         crossings = crossings + (select count(*) from crossing_kept), legs = legs + (select count(*) from leg_kept),
         micro = micro + coalesce((select sum(micro) from crossing_gone), 0), closed_at = now()
       where month = $7 and exists (select from due)
     )
     select (select count(*) from due) as moved, (select count(*) from seen) as seen, last.accepted_at::text as last_at, last.payment_id as last_id
       from (select 1) as one left join lateral (select * from seen order by accepted_at desc, payment_id desc limit 1) as last on true`,
    [tenantId, new Date(month.fromMs), new Date(month.toMs), after?.at ?? null, after?.paymentId ?? null, limit, dayOf(month)],
  );
  const [moved, seen] = [Number(row?.moved ?? 0), Number(row?.seen ?? 0)];
  const isLast = seen < limit || !row?.last_at || !row.last_id;
  return { moved, kept: seen - moved, next: isLast ? null : { at: row.last_at as string, paymentId: row.last_id as string } };
}

/**
 * Moves transfers of a month, at most `limit`; returns how many. One that is there already, read from the chain while the month was being moved
 * or away, is not kept twice.
 */
export async function moveTransfers(owner: Sql, month: Month, limit: number): Promise<number> {
  const columns = await columnsOf(owner);
  const [row] = await owner.query<{ moved: string }>(
    `with gone as (
       delete from public.chain_transfer where ctid = any (array(
         select ctid from public.chain_transfer where block_time >= $1 and block_time < $2 limit $3)) returning *
     ), kept as (
       insert into archive.chain_transfer (${columns.chain_transfer}) select ${columns.chain_transfer} from gone
       on conflict (network, tx_hash, log_position, block_time) do nothing returning 1
     ), counted as (
       update archive.month set transfers = transfers + (select count(*) from kept) where month = $4 and exists (select from gone)
     )
     select count(*) as moved from gone`,
    [new Date(month.fromMs), new Date(month.toMs), limit, dayOf(month)],
  );
  return Number(row?.moved ?? 0);
}

/** What is written of each table, as a list for SQL. */
async function columnsOf(sql: Sql): Promise<Readonly<Record<Table, string>>> {
  const rows = await sql.query<{ name: Table; columns: string }>(
    `select name, archive.columns_of(('archive.' || name)::regclass) as columns from unnest($1::text[]) as name`,
    [NAMES],
  );
  return Object.fromEntries(rows.map(({ name, columns }) => [name, columns])) as Record<Table, string>;
}

/** What is in the tables of a month, counted; whether it is attached makes no difference. Throws where a table is not there. */
export async function countMonth(sql: Sql, month: Month): Promise<MonthCounts> {
  const count = (table: Table): string => `(select count(*) from ${partOf(table, month)})`;
  const [row] = await sql.query<CountRow & Record<string, unknown>>(
    `select ${count('payment_intake')} as payments, ${count('crossing')} as crossings, ${count('leg')} as legs,
       ${count('chain_transfer')} as transfers, (select coalesce(sum(micro), 0) from ${partOf('crossing', month)}) as micro`,
  );
  if (!row) throw new Error('a month has no counts');
  return countsOf(row);
}

/** The tables of a month that are there, attached or not. */
export async function listMonthTables(sql: Sql, month: Month): Promise<string[]> {
  const rows = await sql.query<{ name: string }>(
    'select name from unnest($1::text[]) as name where to_regclass(name) is not null order by name',
    [NAMES.map((table) => partOf(table, month))],
  );
  return rows.map(({ name }) => name);
}

/**
 * Takes the tables of a month out of what anybody reads, or back in, all at once; they stay in `archive` under their names. Readers wait 200 ms
 * at most: `busy` when the locks were not available, and nothing was changed.
 */
export function setAttached(owner: Database, month: Month, isAttached: boolean): Promise<'done' | 'busy'> {
  return withinBriefLocks(owner, async (sql): Promise<'done'> => {
    for (const table of NAMES) {
      const change = isAttached
        ? `attach partition ${partOf(table, month)} for values ${bounds(month)}`
        : `detach partition ${partOf(table, month)}`;
      await sql.query(`alter table archive.${table} ${change}`);
    }
    const state = isAttached ? 'attached' : 'detached';
    await run(sql, all.updateTable('archive.month').set({ state }).where('month', '=', dayOf(month)));
    return 'done';
  });
}
