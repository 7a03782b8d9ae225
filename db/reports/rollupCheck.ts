import type { Span } from '../../domain/window.ts';
import { KEPT_DAYS } from '../../domain/window.ts';
import type { Database, Sql } from '../database.ts';
import { daysAgo } from '../partitions.ts';
import { crossingSums, observationMonths, observationSums } from '../rollups.ts';

/** The rollups by table: how what stands below adds up to it, and what tells its rows apart. */
interface Rollup {
  readonly table: string;
  readonly keys: readonly string[];
  readonly measures: readonly string[];
  /** The sums of what `where` picks, a condition on its moments. */
  readonly sums: (where: string) => string;
  /** True: rows of days that no plan reads may have been dropped (safety 22), so those days are left as they are. */
  readonly isDropped?: true;
  /** True: whole months, added up from their days, which stay when rows are dropped. */
  readonly isMonth?: true;
}

const CROSSING_KEYS = ['dimension', 'bucket', 'host', 'kind', 'key'];
const CROSSING_MEASURES = ['events', 'micro'];
const OBSERVATION_KEYS = ['bucket', 'host', 'verdict', 'classified_as', 'kind', 'reason', 'agent'];
const OBSERVATION_MEASURES = ['hits', 'micro', 'verified', 'invalid'];
const OF_CROSSINGS = { keys: CROSSING_KEYS, measures: CROSSING_MEASURES };
const OF_OBSERVATIONS = { keys: OBSERVATION_KEYS, measures: OBSERVATION_MEASURES };

const rowsOf = (where: string): string => `(select * from observation where ${where}) as plain`;

/** In the order writers lock them; each after what it is added up from. */
const ROLLUPS: readonly Rollup[] = [
  { ...OF_CROSSINGS, table: 'crossing_hour', sums: (where) => crossingSums('hour', where) },
  { ...OF_CROSSINGS, table: 'crossing_day', sums: (where) => crossingSums('day', where) },
  {
    ...OF_CROSSINGS,
    ...{ table: 'crossing_month', isMonth: true },
    sums: (where) => crossingSums('month', where, { from: 'crossing_day', moment: 'bucket' }),
  },
  {
    ...OF_OBSERVATIONS,
    ...{ table: 'observation_hour', isDropped: true },
    sums: (where) => observationSums('hour', rowsOf(where)),
  },
  {
    ...OF_OBSERVATIONS,
    ...{ table: 'observation_day', keys: ['dimension', ...OBSERVATION_KEYS], isDropped: true },
    sums: (where) => observationSums('day', rowsOf(where)),
  },
  {
    ...OF_OBSERVATIONS,
    ...{ table: 'observation_month', keys: ['dimension', ...OBSERVATION_KEYS], isMonth: true },
    sums: observationMonths,
  },
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

/** What a moment is called where a rollup is added up from: months are from days. */
function momentOf({ isMonth }: Rollup): string {
  return isMonth ? 'bucket' : 'at';
}

function picked({ isDropped, isMonth }: Rollup, column: string): string {
  const month = (moment: string): string => `date_trunc('month', ${moment}, 'UTC')`;
  if (isMonth) return `tenant_id = $1 and ${column} >= ${month('$2::timestamptz')} and ${month(column)} < $3`;
  const from = isDropped ? `greatest($2::timestamptz, ${daysAgo(KEPT_DAYS)})` : '$2';
  return `tenant_id = $1 and ${column} >= ${from} and ${column} < $3`;
}

function parameters(tenantId: string, days: Span): unknown[] {
  return [tenantId, new Date(days.fromMs), days.toMs === null ? 'infinity' : new Date(days.toMs)];
}
