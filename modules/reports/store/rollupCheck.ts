import type { Database, Sql } from '../../../db/database.ts';
import { daysAgo } from '../../../db/partitions.ts';
import { acrossSites, run } from '../../../db/statement.ts';
import type { Span } from '../../kernel/time/window.ts';
import { KEPT_DAYS } from '../../kernel/time/window.ts';
import {
  allHostSums,
  bucketOf,
  crossingSums,
  GATHERED,
  GATHERED_SHARD,
  IN_HOURS,
  LIVE,
  observationDays,
} from '../../rollups/store/rollups.ts';

/** A rollup, or a part of one: how what stands below adds up to it, and what tells its rows apart. */
interface Rollup {
  readonly table: string;
  readonly keys: readonly string[];
  readonly measures: readonly string[];
  /** The sums of what `where` picks, a condition on its moments; in the order of the table's columns. */
  readonly sums: (where: string) => string;
  /** True: rows of days that no plan reads may have been dropped (safety 22), so those days are left as they are. */
  readonly isDropped?: true;
  /** True: rows of months may have been detached, so those are left as they are. */
  readonly isDetached?: true;
  /** Which rows of the table it is. */
  readonly only?: string;
  /** True: added up from gathered days, which stay when rows are dropped. */
  readonly isOfDays?: true;
  /** True: by whole months. */
  readonly isMonth?: true;
  /** What the night makes of the rows of live writers; left out: it gathers none. */
  readonly gathered?: {
    /** What is added to days, of rows of the table; left out: just these. */
    readonly days?: (live: string) => string;
    /** The measures of that. */
    readonly measures: readonly string[];
    readonly month?: { readonly table: string; readonly only: string };
  };
}

const CROSSING = ['dimension', 'bucket', 'host', 'kind', 'key'];
const BY_HOST = { keys: CROSSING, measures: ['events', 'micro'] };
const ALL_HOSTS = { keys: CROSSING, measures: ['events', 'micro', 'citations'] };
const OF_OBSERVATIONS = {
  keys: ['dimension', 'bucket', 'host', 'verdict', 'classified_as', 'kind', 'reason', 'agent'],
  measures: ['hits', 'micro', 'verified', 'verified_micro', 'invalid'],
};
const IS_OF_ALL_HOSTS = "dimension in ('site-slug', 'site-author')";
/** By agent and everything else at once, a month would be nearly as many rows as its days. */
const IN_MONTHS = "dimension <> 'full'";

/** Each after what it is added up from. */
const ROLLUPS: readonly Rollup[] = [
  {
    ...BY_HOST,
    table: 'crossing_hour',
    isDetached: true,
    sums: (where) => crossingSums('hour', `${where} and ${IN_HOURS}`),
    gathered: { measures: BY_HOST.measures },
  },
  {
    ...BY_HOST,
    table: 'crossing_day',
    isDetached: true,
    only: `not ${IS_OF_ALL_HOSTS}`,
    sums: (where) => crossingSums('day', where),
    gathered: {
      ...ALL_HOSTS,
      days: (live) => `select * from ${live} union all ${allHostSums(live)}`,
      month: { table: 'crossing_month', only: 'true' },
    },
  },
  {
    ...ALL_HOSTS,
    table: 'crossing_day',
    isOfDays: true,
    only: IS_OF_ALL_HOSTS,
    sums: (where) =>
      summed(ALL_HOSTS, allHostSums(`(select * from crossing_day where ${where} and ${GATHERED}) as by_host`), true),
  },
  {
    ...ALL_HOSTS,
    table: 'crossing_month',
    isOfDays: true,
    isMonth: true,
    sums: (where) => summed(ALL_HOSTS, inMonths(ALL_HOSTS, `crossing_day where ${where} and ${GATHERED}`)),
  },
  {
    ...OF_OBSERVATIONS,
    table: 'observation_day',
    isDropped: true,
    sums: (where) => observationDays(`(select * from observation where ${where}) as plain`),
    gathered: { ...OF_OBSERVATIONS, month: { table: 'observation_month', only: IN_MONTHS } },
  },
  {
    ...OF_OBSERVATIONS,
    table: 'observation_month',
    isOfDays: true,
    isMonth: true,
    sums: (where) =>
      summed(OF_OBSERVATIONS, inMonths(OF_OBSERVATIONS, `observation_day where ${where} and ${GATHERED} and ${IN_MONTHS}`)),
  },
];

type Columns = Pick<Rollup, 'keys' | 'measures'>;

/** Rows of days (a relation, and its conditions) with their months for buckets. */
function inMonths({ keys, measures }: Columns, from: string): string {
  const named = keys.map((name) => (name === 'bucket' ? `${bucketOf('month', 'bucket')} as bucket` : name));
  return `select tenant_id, ${[...named, ...measures].join(', ')} from ${from}`;
}

/** One row for each key of what `parts` gives, in the order of the keys; with the shard of gathered rows where it is wanted. */
function summed({ keys, measures }: Columns, parts: string, withShard = false): string {
  const key = ['tenant_id', ...keys].join(', ');
  const sums = measures.map((name) => `sum(${name})::bigint as ${name}`).join(', ');
  const shard = withShard ? `, ${GATHERED_SHARD}::smallint as shard` : '';
  return `select ${key}${shard}, ${sums} from (${parts}) as part group by ${key} order by ${key}`;
}

/** The statements that fill empty rollups, in their order; `where` is a condition on the moments of rows. */
export function fillStatements(where: (moment: string) => string): readonly string[] {
  return ROLLUPS.map((rollup) => `insert into ${rollup.table} ${rollup.sums(where(momentOf(rollup)))}`);
}

/** One place where a rollup does not add up to its rows. */
export interface RollupMismatch {
  readonly table: string;
  /** The key and both sums, as text. */
  readonly detail: string;
}

/** Every site. */
export async function listTenantIds(sql: Sql): Promise<string[]> {
  const rows = await run(sql, acrossSites('a worker').selectFrom('tenant').select('tenantId').orderBy('tenantId'));
  return rows.map(({ tenantId }) => tenantId);
}

/**
 * Compares a site's rollups with the plain aggregate of its rows over whole days, both from one snapshot; at most `most`
 * mismatches a table.
 */
export function findMismatches(database: Database, tenantId: string, days: Span, most = 20): Promise<RollupMismatch[]> {
  return database.transaction(async (sql) => {
    const found: RollupMismatch[] = [];
    await sql.query("set local statement_timeout = '10min'"); // 400,000 observations take two seconds; nobody waits for it
    for (const rollup of ROLLUPS) {
      const { table, keys, measures, sums, only = 'true' } = rollup;
      const list = keys.join(', ');
      const differs = measures.map((name) => `coalesce(held.${name}, 0) <> coalesce(plain.${name}, 0)`).join(' or ');
      const totals = measures.map((name) => `sum(${name}) as ${name}`).join(', ');
      const rows = await sql.query<{ detail: string }>(
        `select json_build_object('key', json_build_array(${list}), 'held', to_json(held), 'rows', to_json(plain))::text as detail
         from (select ${list}, ${totals} from ${table} where ${picked(rollup, 'bucket')} and ${only} group by ${list}) held
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
 * Rewrites a site's rollups of whole days from its rows, in one database transaction; writers wait meanwhile, so nothing is
 * counted twice or lost. A second call changes nothing.
 */
export function rebuildRollups(database: Database, tenantId: string, days: Span): Promise<void> {
  return database.transaction(async (sql) => {
    await sql.query(`lock table ${[...new Set(ROLLUPS.map(({ table }) => table))].join(', ')} in share row exclusive mode`);
    for (const rollup of ROLLUPS) {
      await sql.query(
        `delete from ${rollup.table} where ${picked(rollup, 'bucket')} and ${rollup.only ?? 'true'}`,
        parameters(tenantId, days),
      );
      await sql.query(`insert into ${rollup.table} ${rollup.sums(picked(rollup, momentOf(rollup)))}`, parameters(tenantId, days));
    }
  });
}

/** Most rows that one transaction gathers. */
const GATHERED_AT_ONCE = 5_000;

/**
 * Gathers the rows that a key of a site was spread over (shards) into one, for the days in `days` that are over by the database's clock, and
 * adds them to their months, which hold nothing else: reports read one row a key then, and those of a day lie side by side. In transactions of
 * 5,000 rows at most. It waits for no writer, and a writer waits for one transaction at most: a row that is being written is left for the next
 * call, as are rows that come late. No sum changes at any moment. Returns how many rows were gathered; a second call finds none.
 */
export async function gatherShards(sql: Sql, tenantId: string, days: Span, onPiece = (): void => undefined): Promise<number> {
  let all = 0;
  for (const rollup of ROLLUPS) {
    if (rollup.gathered === undefined) continue;
    const statement = gathering(rollup, rollup.gathered);
    for (let isMore = true; isMore; ) {
      onPiece();
      const [row] = await sql.query<{ seen: number; gathered: number }>(statement, parameters(tenantId, days));
      const { seen, gathered } = row ?? { seen: 0, gathered: 0 };
      all += gathered;
      isMore = seen === GATHERED_AT_ONCE && gathered > 0; // of what was seen, a row that changed meanwhile stays
    }
  }
  return all;
}

/**
 * What is deleted is what is added up, to days and to months at once: of a row that changed after the statement began, nothing happens. Rows
 * that live writers hold are skipped.
 */
function gathering({ table, keys }: Rollup, { days, measures, month }: NonNullable<Rollup['gathered']>): string {
  const columns = { keys, measures };
  const key = ['tenant_id', ...keys].join(', ');
  const add = (into: string, unique: string, parts: string): string =>
    `insert into ${into} as rolled (${unique}, ${measures.join(', ')}) ${parts}
       on conflict (${unique}) do update set ${measures.map((name) => `${name} = rolled.${name} + excluded.${name}`).join(', ')}`;
  const gathered = `gathered as materialized (${days?.('gone') ?? `select * from gone`})`;
  const inDays = `in_days as (${add(table, `${key}, shard`, summed(columns, 'select * from gathered', true))})`;
  const ofMonths = month && inMonths(columns, `gathered where ${month.only}`);
  return `with spread as materialized (
       select ctid from ${table}
       where tenant_id = $1 and bucket >= ${bucketOf('day', '$2::timestamptz')} and bucket < $3
         and bucket < ${bucketOf('day', 'now()')} and ${LIVE}
       order by ${key} limit ${GATHERED_AT_ONCE} for update skip locked
     ), gone as (
       delete from ${table} where ctid = any (array(select ctid from spread)) returning ${key}, ${measures.join(', ')}
     ), ${gathered}, ${inDays}${month && ofMonths ? `, in_months as (${add(month.table, key, summed(columns, ofMonths))})` : ''}
     select (select count(*)::int from spread) as seen, count(*)::int as gathered from gone`;
}

/** What a moment is called where a rollup is added up from. */
function momentOf({ isOfDays }: Rollup): string {
  return isOfDays ? 'bucket' : 'at';
}

/** The days, or the months that they are in, as a condition on a column. */
function picked({ isDropped, isDetached, isMonth }: Rollup, column: string): string {
  const since = '$2::timestamptz';
  if (isMonth) return `tenant_id = $1 and ${column} >= ${bucketOf('month', since)} and ${bucketOf('month', column)} < $3`;
  const first = isDropped ? daysAgo(KEPT_DAYS) : isDetached ? '(select archive.detached_until())' : null;
  const from = first === null ? '$2' : `greatest(${since}, ${first})`;
  return `tenant_id = $1 and ${column} >= ${from} and ${column} < $3`;
}

function parameters(tenantId: string, days: Span): unknown[] {
  return [tenantId, new Date(days.fromMs), days.toMs === null ? 'infinity' : new Date(days.toMs)];
}
