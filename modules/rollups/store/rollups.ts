/**
 * The rollups' writers. Code that appends crossings or observations adds them here in the same database
 * transaction, as its last writes: crossings before observations, each one's units in one statement, whose tables
 * Postgres fills in one order, keys in the primary key's order. Months are the night's (rollupCheck.ts).
 */
import type { Sql } from '../../../db/database.ts';

/** Busy keys are spread over this many rows, by the connection that writes. */
const SHARD = 'pg_backend_pid() % 4';

/** The row of a key that the night gathers the others in; live writers never touch it. */
export const GATHERED_SHARD = 4;

/** True of the rows that live writers spread keys over and no night has gathered yet. */
export const LIVE = `shard < ${GATHERED_SHARD}`;

/** True of gathered rows, a hidden column (db/PLANS.md): by an index Postgres would skip through all of a site's rows. */
export const GATHERED = `(${LIVE}) is false`;

/** The bucket of a moment, as the key wants it; UTC. */
export function bucketOf(unit: 'hour' | 'day' | 'month', moment: string): string {
  return `date_trunc('${unit}', ${moment}, 'UTC')`;
}

/** What rows of `ledger.crossing_part` add to hours or days; `where` picks the rows of `from`, `shard` is the row they go to. */
export function crossingSums(
  unit: 'hour' | 'day',
  where: string,
  { shard = String(GATHERED_SHARD), from = 'ledger.crossing_part' } = {},
): string {
  return `select tenant_id, dimension, ${bucketOf(unit, 'at')} as bucket, host, kind, key, (${shard})::smallint as shard,
      sum(events)::bigint as events, sum(micro)::bigint as micro
    from ${from} where ${where}
    group by 1, 2, 3, 4, 5, 6 order by 1, 2, 3, 4, 5, 6`;
}

/** How many events of a row by kind are citations. */
export const CITATIONS = "case kind when 'citation' then events else 0 end as citations";

/** What rows of days by host and kind add to those of all hosts and kinds of their site, without a shard. */
export function allHostSums(from: string): string {
  return `select tenant_id, 'site-' || dimension as dimension, bucket, '' as host, '' as kind, key, events, micro, ${CITATIONS}
      from ${from} where dimension in ('slug', 'author')`;
}

/** The parts of crossings that are being appended, as `crossing_part` has them afterwards. */
function partsOf(crossings: string): string {
  return `select made.tenant_id, made.at, part.dimension, made.host, made.kind, part.key,
        case when made.sequence % 2 = 0 then 1 else -1 end as events, part.micro
      from ${crossings} as made cross join lateral (
        select 'total' as dimension, '' as key, made.micro as micro
        union all select 'slug', slug_key(made.slug), made.micro
        union all select 'author', leg ->> 'toAddress', (leg ->> 'amountMicro')::bigint
          from jsonb_array_elements(made.legs) as leg where leg ->> 'role' <> 'platform') as part`;
}

function addCrossings(unit: 'hour' | 'day', where = 'true'): string {
  return `insert into crossing_${unit} as rolled ${crossingSums(unit, where, { shard: SHARD, from: 'parts' })}
      on conflict (tenant_id, dimension, bucket, host, kind, key, shard) do update
        set events = rolled.events + excluded.events, micro = rolled.micro + excluded.micro`;
}

/** What hours are kept of: an hour of a page or an author holds one crossing as a rule. */
export const IN_HOURS = "dimension = 'total'";

/**
 * Members of a `with` that add crossings to the rollups, corrections too: `made` names the one that appends them (`insert into
 * crossing … returning *`), so that none is looked up again. They stand before the statement's other writing members, to be its last writes
 * ("last written first", db/PLANS.md).
 */
export function crossingRollups(made: string): string {
  return `parts as materialized (${partsOf(made)}),
     hours as (${addCrossings('hour', IN_HOURS)}),
     days as (${addCrossings('day')})`;
}

/** The columns an observation is counted by. */
const OBSERVATION_COLUMNS =
  'tenant_id, at, host, verdict, classified_as, kind, reason, agent, count, micro, verified, sig_invalid';

const COLUMNS = 'host, verdict, classified_as, kind, reason, agent';
const MEASURES = 'hits, micro, verified, verified_micro, invalid';
const TOTALS = MEASURES.replace(/\w+/g, 'sum($&)::bigint as $&');

/** Net sums of the rows of `from` (a relation with the columns of an observation, and its conditions), day by day. */
function fullSums(from: string): string {
  return `select tenant_id, ${bucketOf('day', 'at')} as bucket, host, verdict, classified_as, coalesce(kind, '') as kind,
      coalesce(reason, '') as reason, agent, sum(count)::bigint as hits, sum(count * coalesce(micro, 0))::bigint as micro,
      coalesce(sum(count) filter (where verified), 0)::bigint as verified,
      coalesce(sum(count * coalesce(micro, 0)) filter (where verified), 0)::bigint as verified_micro,
      coalesce(sum(count) filter (where sig_invalid), 0)::bigint as invalid
    from ${from} group by 1, 2, 3, 4, 5, 6, 7, 8`;
}

/** The verdicts that an agent's line tells apart. */
export const COLLAPSED_VERDICT = "case when verdict in ('denied', 'paid') then verdict else '' end";

/** The reason that an agent's line tells apart: whether a sale answers a 402. */
export const COLLAPSED_REASON = "case when verdict = 'paid' then reason else '' end";

/** What sums of days add in every dimension. */
const DAY_SUMS = `select tenant_id, dimension, bucket, ${COLUMNS}, ${TOTALS} from (
      select tenant_id, 'total' as dimension, bucket, host, verdict, classified_as, kind, reason, '' as agent, ${MEASURES} from in_full
      union all select tenant_id, 'full', bucket, ${COLUMNS}, ${MEASURES} from in_full
      union all select tenant_id, 'label', bucket, '', ${COLLAPSED_VERDICT}, 'agent', '', ${COLLAPSED_REASON}, agent, ${MEASURES} from in_full
        where classified_as = 'agent') part group by 1, 2, 3, 4, 5, 6, 7, 8, 9`;

/** The rows of a rollup, in the order of its keys. */
function rowsOf(sums: string, shard = String(GATHERED_SHARD)): string {
  return `select tenant_id, dimension, bucket, ${COLUMNS}, (${shard})::smallint as shard, ${MEASURES} from ${sums}
    order by 1, 2, 3, 4, 5, 6, 7, 8, 9`;
}

/** What the rows of `from` (a relation with the columns of an observation, and its conditions) add to the days. */
export function observationDays(from: string, shard?: string): string {
  return `with in_full as materialized (${fullSums(from)}) ${rowsOf(`(${DAY_SUMS}) by_day`, shard)}`;
}

/**
 * Appends observations and adds them to the rollups, in one statement. `insert` is an `insert into observation …` without its
 * `returning`; `values` are its parameters, `name` is the statement's (`Sql.query`). All of it, or, when it throws, nothing.
 */
export async function insertAndRollUp(sql: Sql, insert: string, values: readonly unknown[], name?: string): Promise<void> {
  await sql.query(
    `with made as (${insert} returning ${OBSERVATION_COLUMNS}),
     in_full as materialized (${fullSums('made')}),
     days as (
       insert into observation_day as rolled ${rowsOf(`(${DAY_SUMS}) by_day`, SHARD)}
       on conflict (tenant_id, dimension, bucket, ${COLUMNS}, shard) do update set
         hits = rolled.hits + excluded.hits, micro = rolled.micro + excluded.micro,
         verified = rolled.verified + excluded.verified, verified_micro = rolled.verified_micro + excluded.verified_micro,
         invalid = rolled.invalid + excluded.invalid)
     select`,
    values,
    name,
  );
}
