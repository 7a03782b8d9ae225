/**
 * The rollups' writers (DESIGN §5, safety 23). Whoever appends crossings or observations adds them here in the same database
 * transaction, as its last writes: crossings before observations, each one's tables in one order, keys in the primary key's order.
 */
import type { Sql } from './database.ts';

/** Busy keys are spread over this many rows, by the connection that writes. */
const LANE = 'pg_backend_pid() % 4';

/** Names one crossing that was appended. */
export interface CrossingRef {
  readonly tenantId: string;
  readonly crossingId: string;
}

/** Buckets as the key wants them: `hour` or `day`, UTC. */
function bucketOf(unit: 'hour' | 'day'): string {
  return `date_trunc('${unit}', at, 'UTC')`;
}

/** What rows of `crossing_part` add to the rollup of a unit; `where` picks the rows of `from`, `lane` is the row they go to. */
export function crossingSums(unit: 'hour' | 'day', where: string, lane = '0', from = 'crossing_part'): string {
  return `select tenant_id, dimension, ${bucketOf(unit)} as bucket, host, kind, key, (${lane})::smallint as lane,
      sum(events)::bigint as events, sum(micro)::bigint as micro
    from ${from} where ${unit === 'hour' ? "dimension <> 'total' and " : ''}${where}
    group by 1, 2, 3, 4, 5, 6 order by 1, 2, 3, 4, 5, 6`;
}

/** The parts of the crossings named by two arrays, each looked up by its key: a join would read whole tables while they are small. */
const APPENDED = `unnest($1::uuid[], $2::uuid[]) as appended (site, crossing) cross join lateral (
      select * from crossing_part where tenant_id = appended.site and crossing_id = appended.crossing offset 0) as part`;

/** Adds crossings that this transaction appended, corrections too. Call it once for each crossing: a second call adds again. */
export async function rollUpCrossings(sql: Sql, refs: readonly CrossingRef[]): Promise<void> {
  if (refs.length === 0) return;
  const values = [refs.map((ref) => ref.tenantId), refs.map((ref) => ref.crossingId)];
  for (const unit of ['hour', 'day'] as const) {
    await sql.query(
      `insert into crossing_${unit} as rolled ${crossingSums(unit, 'true', LANE, APPENDED)}
       on conflict (tenant_id, dimension, bucket, host, kind, key, lane) do update
         set events = rolled.events + excluded.events, micro = rolled.micro + excluded.micro`,
      values,
      `roll-up-crossings-${unit}`,
    );
  }
}

/** The columns an observation is counted by. */
const OBSERVATION_COLUMNS =
  'tenant_id, at, host, verdict, classified_as, kind, reason, agent, count, micro, verified, sig_invalid';

const SUMS = `sum(count)::bigint as hits, sum(count * coalesce(micro, 0))::bigint as micro,
      coalesce(sum(count) filter (where verified), 0)::bigint as verified,
      coalesce(sum(count) filter (where sig_invalid), 0)::bigint as invalid`;

/** What the rows of `from` (a relation with the columns of an observation, and its conditions) add to the hours. */
export function observationHourSums(from: string, lane = '0'): string {
  return `select tenant_id, ${bucketOf('hour')} as bucket, host, verdict, classified_as, coalesce(kind, '') as kind,
      coalesce(reason, '') as reason, agent, (${lane})::smallint as lane, ${SUMS}
    from ${from} group by 1, 2, 3, 4, 5, 6, 7, 8 order by 1, 2, 3, 4, 5, 6, 7, 8`;
}

/** What the rows of `from` add to the days, in all three dimensions; the rows are read once. */
export function observationDaySums(from: string, lane = '0'): string {
  return `with by_day as materialized (
      select tenant_id, ${bucketOf('day')} as bucket, host, verdict, classified_as, coalesce(kind, '') as kind,
        coalesce(reason, '') as reason, agent, ${SUMS}
      from ${from} group by 1, 2, 3, 4, 5, 6, 7, 8
    )
    select tenant_id, dimension, bucket, host, verdict, classified_as, kind, reason, agent, (${lane})::smallint as lane,
      sum(hits)::bigint as hits, sum(micro)::bigint as micro, sum(verified)::bigint as verified, sum(invalid)::bigint as invalid
    from (
      select tenant_id, 'total' as dimension, bucket, host, verdict, classified_as, kind, reason, '' as agent, hits, micro, verified,
        invalid from by_day
      union all
      select tenant_id, 'full', bucket, host, verdict, classified_as, kind, reason, agent, hits, micro, verified, invalid from by_day
      union all
      select tenant_id, 'label', bucket, '', ${COLLAPSED_VERDICT}, 'agent', '', '', agent, hits, micro, verified, invalid
        from by_day where classified_as = 'agent'
    ) part group by 1, 2, 3, 4, 5, 6, 7, 8, 9 order by 1, 2, 3, 4, 5, 6, 7, 8, 9`;
}

/** The verdicts that an agent's line tells apart. */
export const COLLAPSED_VERDICT = "case when verdict in ('denied', 'paid') then verdict else '' end";

const ADD = `hits = rolled.hits + excluded.hits, micro = rolled.micro + excluded.micro,
         verified = rolled.verified + excluded.verified, invalid = rolled.invalid + excluded.invalid`;

/**
 * Appends observations and adds them to the rollups, in one statement. `insert` is an `insert into observation …` without its
 * `returning`; `values` are its parameters, `name` is the statement's (`Sql.query`). All of it, or, when it throws, nothing.
 */
export async function insertAndRollUp(sql: Sql, insert: string, values: readonly unknown[], name?: string): Promise<void> {
  await sql.query(
    `with made as (${insert} returning ${OBSERVATION_COLUMNS}),
     hours as (
       insert into observation_hour as rolled ${observationHourSums('made', LANE)}
       on conflict (tenant_id, bucket, host, verdict, classified_as, kind, reason, agent, lane) do update set ${ADD}
     )
     insert into observation_day as rolled ${observationDaySums('made', LANE)}
     on conflict (tenant_id, dimension, bucket, host, verdict, classified_as, kind, reason, agent, lane) do update set ${ADD}`,
    values,
    name,
  );
}
