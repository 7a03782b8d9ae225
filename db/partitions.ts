/** Deletes what is old: days of observations, and nothing else (safety 22). Closed months of money (modules/operations/store/months) are never dropped. */

import { sql as text } from 'kysely';
import { KEPT_DAYS, MARGIN_DAYS } from '../modules/kernel/time/window.ts';
import { withinBriefLocks } from './briefLocks.ts';
import type { Database, Sql } from './database.ts';
import { run, tables } from './statement.ts';

/** How many days back an observation is kept at least. */
export const KEPT_OBSERVATIONS_DAYS = KEPT_DAYS + MARGIN_DAYS;

/** The start of the day (UTC) that many days ago, by the database's clock, as SQL. */
export function daysAgo(days: number): string {
  return `(date_trunc('day', now(), 'UTC') - interval '${24 * days} hours')`;
}

/** One day of observations. */
export interface DayPartition {
  readonly name: string;
  /** YYYY-MM-DD, UTC. */
  readonly day: string;
  /** As Postgres last counted them; null: it has not yet. */
  readonly rowsEstimate: number | null;
  /** With its indexes. */
  readonly bytes: number;
}

/** The first day that must stay: whatever no plan has read for a margin of days comes before it. */
export async function firstKeptDay(sql: Sql): Promise<string> {
  const day = text.raw<string>(`to_char(${daysAgo(KEPT_OBSERVATIONS_DAYS)} at time zone 'UTC', 'YYYY-MM-DD')`);
  const [row] = await run(sql, tables.selectNoFrom(day.as('day')));
  if (!row) throw new Error('the database has no clock');
  return row.day;
}

/** Partitions of `observation` that hold exactly the day of their name, the oldest first; the default one is none of them. */
export async function listDayPartitions(sql: Sql): Promise<DayPartition[]> {
  const rows = await sql.query<{ name: string; day: string; rows: number; bytes: string }>(
    `select name, to_char(starts at time zone 'UTC', 'YYYY-MM-DD') as day, rows, pg_total_relation_size(oid) as bytes
     from (
       select c.oid, c.relname as name, c.reltuples::float8 as rows, bound[1]::timestamptz as starts, bound[2]::timestamptz as ends
       from pg_inherits as i join pg_class as c on c.oid = i.inhrelid,
         regexp_match(pg_get_expr(c.relpartbound, c.oid), 'FROM \\(''([^'']+)''\\) TO \\(''([^'']+)''\\)') as bound
       where i.inhparent = 'public.observation'::regclass and c.relkind = 'r' and bound is not null
     ) as part
     where name = 'observation_' || to_char(starts at time zone 'UTC', 'YYYYMMDD') and ends - starts = interval '24 hours'
     order by starts`,
  );
  return rows.map(({ name, day, rows: estimate, bytes }) => ({
    name,
    day,
    bytes: Number(bytes),
    rowsEstimate: estimate < 0 ? null : estimate,
  }));
}

/**
 * Drops one day of observations, as the tables' owner; its rollups stay. Returns `busy` when the lock was not available at once
 * (writers wait for 200 ms at most, and nothing was changed), `gone` when there is no such day any more. Throws when the day
 * must stay. DETACH CONCURRENTLY is not possible beside a default partition.
 */
export function dropDayPartition(owner: Database, partition: DayPartition): Promise<'dropped' | 'gone' | 'busy'> {
  return withinBriefLocks(owner, async (sql) => {
    const found = (await listDayPartitions(sql)).find(({ name }) => name === partition.name);
    if (found === undefined) return 'gone';
    if (found.day >= (await firstKeptDay(sql))) throw new Error(`${found.name} is not old enough to be dropped`);
    await sql.query(`drop table public.${found.name} restrict`);
    return 'dropped';
  });
}
