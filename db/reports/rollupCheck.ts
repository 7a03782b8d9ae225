import type { Span } from '../../domain/reports/window.ts';
import { KEPT_DAYS } from '../../domain/reports/window.ts';
import type { Database, Sql } from '../database.ts';
import { daysAgo } from '../operator/partitions.ts';
import { crossingSums, GATHERED_SHARD, IN_HOURS, observationDays, observationMonths } from './rollups.ts';

/** The rollups by table: how what stands below adds up to it, and what tells its rows apart. */
interface Rollup {
  readonly table: string;
  readonly keys: readonly string[];
  readonly measures: readonly string[];
  /** The sums of what `where` picks, a condition on its moments. */
  readonly sums: (where: string) => string;
  /** True: rows of days that no plan reads may have been dropped (safety 22), so those days are left as they are. */
  readonly isDropped?: true;
  /** True: rows of months may have been detached, so those are left as they are. */
  readonly isDetached?: true;
  /** Which of the rows that it is added up from it keeps. */
  readonly only?: string;
  /** True: whole months, added up from their days, which stay when rows are dropped. */
  readonly isMonth?: true;
}

const CROSSING_KEYS = ['dimension', 'bucket', 'host', 'kind', 'key'];
const CROSSING_MEASURES = ['events', 'micro'];
const OBSERVATION_KEYS = ['dimension', 'bucket', 'host', 'verdict', 'classified_as', 'kind', 'reason', 'agent'];
const OBSERVATION_MEASURES = ['hits', 'micro', 'verified', 'invalid'];
const OF_CROSSINGS = { keys: CROSSING_KEYS, measures: CROSSING_MEASURES };
const OF_OBSERVATIONS = { keys: OBSERVATION_KEYS, measures: OBSERVATION_MEASURES };

/** Each after what it is added up from. */
const ROLLUPS: readonly Rollup[] = [
  { ...OF_CROSSINGS, table: 'crossing_hour', isDetached: true, only: IN_HOURS, sums: (where) => crossingSums('hour', where) },
  { ...OF_CROSSINGS, table: 'crossing_day', isDetached: true, sums: (where) => crossingSums('day', where) },
  {
    ...OF_CROSSINGS,
    table: 'crossing_month',
    isMonth: true,
    sums: (where) => crossingSums('month', where, { from: 'crossing_day', moment: 'bucket' }),
  },
  {
    ...OF_OBSERVATIONS,
    table: 'observation_day',
    isDropped: true,
    sums: (where) => observationDays(`(select * from observation where ${where}) as plain`),
  },
  { ...OF_OBSERVATIONS, table: 'observation_month', isMonth: true, sums: observationMonths },
];

/** One place where a rollup does not add up to its rows. */
export interface RollupMismatch {
  readonly table: string;
  /** The key and both sums, as text. */
  readonly detail: string;
}

/** Every site. */
export async function listTenantIds(sql: Sql): Promise<string[]> {
  const rows = await sql.query<{ tenant_id: string }>('select tenant_id from tenant order by tenant_id');
  return rows.map((row) => row.tenant_id);
}

/**
 * Compares a site's rollups with the plain aggregate of its rows over whole days, both from one snapshot; at most `most`
 * mismatches a table.
 */
export function findMismatches(database: Database, tenantId: string, days: Span, most = 20): Promise<RollupMismatch[]> {
  return database.transaction(async (sql) => {
    const found: RollupMismatch[] = [];
    for (const rollup of ROLLUPS) {
      const { table, keys, measures, sums } = rollup;
      const list = keys.join(', ');
      const differs = measures.map((name) => `coalesce(held.${name}, 0) <> coalesce(plain.${name}, 0)`).join(' or ');
      const totals = measures.map((name) => `sum(${name}) as ${name}`).join(', ');
      const rows = await sql.query<{ detail: string }>(
        `select json_build_object('key', json_build_array(${list}), 'held', to_json(held), 'rows', to_json(plain))::text as detail
         from (select ${list}, ${totals} from ${table} where ${picked(rollup, 'bucket')} group by ${list}) held
           full join (select ${list}, ${measures.join(', ')} from (${sums(picked(rollup, momentOf(rollup)))}) every) plain using (${list})
         where ${differs} limit ${Number(most)}`,
        parameters(tenantId, days),
      );
      found.push(...rows.map(({ detail }) => ({ table, detail })));
    }
    return found;
  }, 'repeatable read read only');
}

/**
 * Writes a site's rollups of whole days anew from its rows, in one database transaction; writers wait meanwhile, so nothing is
 * counted twice or lost. A second call changes nothing.
 */
export function rebuildRollups(database: Database, tenantId: string, days: Span): Promise<void> {
  return database.transaction(async (sql) => {
    await sql.query(`lock table ${ROLLUPS.map(({ table }) => table).join(', ')} in share row exclusive mode`);
    for (const rollup of ROLLUPS) {
      await sql.query(`delete from ${rollup.table} where ${picked(rollup, 'bucket')}`, parameters(tenantId, days));
      await sql.query(`insert into ${rollup.table} ${rollup.sums(picked(rollup, momentOf(rollup)))}`, parameters(tenantId, days));
    }
  });
}

/** Most rows that one transaction gathers. */
const GATHERED_AT_ONCE = 5_000;

/**
 * Gathers the rows that a key of a site was spread over (shards) into one, for the days and months in `days` that are over by the
 * database's clock: reports read one row a key then, and those of a day lie side by side. In transactions of 5,000 rows at most. It waits
 * for no writer, and a writer waits for one transaction at most: a row that is being written is left for the next call, as are rows
 * that come late. No sum changes at any moment. Returns how many rows were gathered; a second call finds none.
 */
export async function gatherShards(sql: Sql, tenantId: string, days: Span, onPiece = (): void => undefined): Promise<number> {
  let all = 0;
  for (const rollup of ROLLUPS) {
    const statement = gathering(rollup);
    let gathered: number;
    do {
      onPiece();
      const [row] = await sql.query<{ gathered: number }>(statement, parameters(tenantId, days));
      gathered = row?.gathered ?? 0;
      all += gathered;
    } while (gathered === GATHERED_AT_ONCE);
  }
  return all;
}

/** What is deleted is what is added up: of a row that changed after the statement began, neither happens. */
function gathering({ table, keys, measures, isMonth, only = 'true' }: Rollup): string {
  const key = ['tenant_id', ...keys].join(', ');
  const unit = isMonth ? 'month' : 'day';
  return `with spread as materialized (
       select ctid from ${table}
       where tenant_id = $1 and bucket >= date_trunc('${unit}', $2::timestamptz, 'UTC') and bucket < $3
         and bucket < date_trunc('${unit}', now(), 'UTC') and shard <> ${GATHERED_SHARD} and ${only}
       order by ${key} limit ${GATHERED_AT_ONCE} for update skip locked
     ), gone as (
       delete from ${table} where ctid = any (array(select ctid from spread)) returning *
     ), gathered as (
       insert into ${table} as rolled (${key}, shard, ${measures.join(', ')})
       select ${key}, ${GATHERED_SHARD}, ${measures.map((name) => `sum(${name})`).join(', ')} from gone group by ${key} order by ${key}
       on conflict (${key}, shard) do update set ${measures.map((name) => `${name} = rolled.${name} + excluded.${name}`).join(', ')}
     )
     select count(*)::int as gathered from gone`;
}

/** What a moment is called where a rollup is added up from: months are from days. */
function momentOf({ isMonth }: Rollup): string {
  return isMonth ? 'bucket' : 'at';
}

function picked({ isDropped, isDetached, isMonth, only = 'true' }: Rollup, column: string): string {
  const month = (moment: string): string => `date_trunc('month', ${moment}, 'UTC')`;
  if (isMonth) return `tenant_id = $1 and ${column} >= ${month('$2::timestamptz')} and ${month(column)} < $3`;
  const first = isDropped ? daysAgo(KEPT_DAYS) : isDetached ? '(select archive.detached_until())' : null;
  const from = first === null ? '$2' : `greatest($2::timestamptz, ${first})`;
  return `tenant_id = $1 and ${column} >= ${from} and ${column} < $3 and ${only}`;
}

function parameters(tenantId: string, days: Span): unknown[] {
  return [tenantId, new Date(days.fromMs), days.toMs === null ? 'infinity' : new Date(days.toMs)];
}
