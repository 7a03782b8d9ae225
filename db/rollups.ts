/**
 * The rollups' writers. Whoever appends crossings or observations adds them here in the same database
 * transaction, as its last writes: crossings before observations, each one's hours, days and months in one statement, whose tables
 * Postgres fills in one order, keys in the primary key's order.
 */
import type { Sql } from './database.ts';

/** Busy keys are spread over this many rows, by the connection that writes. */
const LANE = 'pg_backend_pid() % 4';

/** How long the buckets of a rollup are; UTC. */
export type RollupUnit = 'hour' | 'day' | 'month';

/** Names one crossing that was appended. */
export interface CrossingRef {
  readonly tenantId: string;
  readonly crossingId: string;
}

/** The bucket of a moment, as the key wants it. */
function bucketOf(unit: RollupUnit, moment: string): string {
  return `date_trunc('${unit}', ${moment}, 'UTC')`;
}

/** What rows of `crossing_part` add to the rollup of a unit; `where` picks the rows of `from`, `lane` is the row they go to. */
export function crossingSums(
  unit: RollupUnit,
  where: string,
  { lane = '0', from = 'crossing_part', moment = 'at' } = {},
): string {
  return `select tenant_id, dimension, ${bucketOf(unit, moment)} as bucket, host, kind, key, (${lane})::smallint as lane,
      sum(events)::bigint as events, sum(micro)::bigint as micro
    from ${from} where ${where}
    group by 1, 2, 3, 4, 5, 6 order by 1, 2, 3, 4, 5, 6`;
}

/** The parts of the crossings named by two arrays, each looked up by its key: a join would read whole tables while they are small. */
const APPENDED = `select tenant_id, dimension, at, host, kind, key, events, micro
      from unnest($1::uuid[], $2::uuid[]) as appended (site, crossing) cross join lateral (
        select * from crossing_part where tenant_id = appended.site and crossing_id = appended.crossing offset 0) as part`;

function addCrossings(unit: RollupUnit): string {
  return `insert into crossing_${unit} as rolled ${crossingSums(unit, 'true', { lane: LANE, from: 'appended' })}
      on conflict (tenant_id, dimension, bucket, host, kind, key, lane) do update
        set events = rolled.events + excluded.events, micro = rolled.micro + excluded.micro`;
}

/** Adds crossings that this transaction appended, corrections too. Call it once for each crossing: a second call adds again. */
export async function rollUpCrossings(sql: Sql, refs: readonly CrossingRef[]): Promise<void> {
  if (refs.length === 0) return;
  await sql.query(
    `with appended as materialized (${APPENDED}),
     hours as (${addCrossings('hour')}),
     days as (${addCrossings('day')}),
     months as (${addCrossings('month')})
     select`,
    [refs.map((ref) => ref.tenantId), refs.map((ref) => ref.crossingId)],
    'roll-up-crossings',
  );
}

/** The columns an observation is counted by. */
const OBSERVATION_COLUMNS =
  'tenant_id, at, host, verdict, classified_as, kind, reason, agent, count, micro, verified, sig_invalid';

const COLUMNS = 'host, verdict, classified_as, kind, reason, agent';
const MEASURES = 'hits, micro, verified, invalid';
const TOTALS = MEASURES.replace(/\w+/g, 'sum($&)::bigint as $&');

/** Net sums of the rows of `from` (a relation with the columns of an observation, and its conditions), hour by hour. */
function hourSums(from: string): string {
  return `select tenant_id, ${bucketOf('hour', 'at')} as bucket, host, verdict, classified_as, coalesce(kind, '') as kind,
      coalesce(reason, '') as reason, agent, sum(count)::bigint as hits, sum(count * coalesce(micro, 0))::bigint as micro,
      coalesce(sum(count) filter (where verified), 0)::bigint as verified,
      coalesce(sum(count) filter (where sig_invalid), 0)::bigint as invalid
    from ${from} group by 1, 2, 3, 4, 5, 6, 7, 8`;
}

/** Sums in their dimensions, added up to a unit. */
function longerSums(unit: 'day' | 'month', part: string): string {
  return `select tenant_id, dimension, ${bucketOf(unit, 'bucket')} as bucket, ${COLUMNS}, ${TOTALS}
    from (${part}) part group by 1, 2, 3, 4, 5, 6, 7, 8, 9`;
}

/** The verdicts that an agent's line tells apart. */
export const COLLAPSED_VERDICT = "case when verdict in ('denied', 'paid') then verdict else '' end";

/** What sums of hours add to the days, in every dimension. */
const DAY_SUMS = longerSums(
  'day',
  `select tenant_id, 'total' as dimension, bucket, host, verdict, classified_as, kind, reason, '' as agent, ${MEASURES} from by_hour
      union all select tenant_id, 'full', bucket, ${COLUMNS}, ${MEASURES} from by_hour
      union all select tenant_id, 'label', bucket, '', ${COLLAPSED_VERDICT}, 'agent', '', '', agent, ${MEASURES} from by_hour
        where classified_as = 'agent'`,
);

/** What sums of days add to the months: all but what is told apart in full. */
const monthSums = (from: string): string => longerSums('month', `select * from ${from} and dimension <> 'full'`);

/** The rows of a rollup, in the order of its keys; hours have one dimension, without a name. */
function rowsOf(unit: RollupUnit, sums: string, lane = '0'): string {
  const [dimension, count] = unit === 'hour' ? ['', 8] : ['dimension, ', 9];
  const places = Array.from({ length: count }, (_, place) => place + 1).join(', ');
  return `select tenant_id, ${dimension}bucket, ${COLUMNS}, (${lane})::smallint as lane, ${MEASURES} from ${sums} order by ${places}`;
}

/** What the rows of `from` (a relation with the columns of an observation, and its conditions) add to the hours or days. */
export function observationSums(unit: 'hour' | 'day', from: string): string {
  const sums = unit === 'hour' ? 'by_hour' : `(${DAY_SUMS}) by_day`;
  return `with by_hour as materialized (${hourSums(from)}) ${rowsOf(unit, sums)}`;
}

/** What the days that `where` picks add to the months. */
export function observationMonths(where: string): string {
  return rowsOf('month', `(${monthSums(`observation_day where ${where}`)}) by_month`);
}

function addObservations(unit: RollupUnit, sums: string): string {
  return `insert into observation_${unit} as rolled ${rowsOf(unit, sums, LANE)}
      on conflict (tenant_id, ${unit === 'hour' ? '' : 'dimension, '}bucket, ${COLUMNS}, lane) do update set
        hits = rolled.hits + excluded.hits, micro = rolled.micro + excluded.micro,
        verified = rolled.verified + excluded.verified, invalid = rolled.invalid + excluded.invalid`;
}

/**
 * Appends observations and adds them to the rollups, in one statement. `insert` is an `insert into observation …` without its
 * `returning`; `values` are its parameters, `name` is the statement's (`Sql.query`). All of it, or, when it throws, nothing.
 */
export async function insertAndRollUp(sql: Sql, insert: string, values: readonly unknown[], name?: string): Promise<void> {
  await sql.query(
    `with made as (${insert} returning ${OBSERVATION_COLUMNS}),
     by_hour as materialized (${hourSums('made')}),
     by_day as materialized (${DAY_SUMS}),
     by_month as (${monthSums('by_day where true')}),
     hours as (${addObservations('hour', 'by_hour')}),
     days as (${addObservations('day', 'by_day')}),
     months as (${addObservations('month', 'by_month')})
     select`,
    values,
    name,
  );
}
