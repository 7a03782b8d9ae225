import { Binder } from '../../../../db/binder.ts';
import type { Sql } from '../../../../db/database.ts';
import type { Span } from '../../../kernel/time/window.ts';
import { isEmpty } from '../../../kernel/time/window.ts';
import { within } from '../earnings/crossings.ts';
import type { ObservationScope, ObservationSum, SumRow } from './observations.ts';
import { AGENT_NAME, observationConditions, SUMS, sumFromRow } from './observations.ts';

/** Characters of a name: names are what strangers sent. */
export const MAX_NAME_CHARS = 200;

/** What agents that are no label of their own did in a window: those with the most requests by name, and all others together. */
export interface OtherNames {
  /** Net sums by name and verdict; `key` is the name, up to a character more than `MAX_NAME_CHARS`. */
  readonly named: readonly ObservationSum[];
  readonly rest: readonly ObservationSum[];
  /** How many names the rest has. */
  readonly restNames: number;
}

/** A name as it is told; one that is cut ends with a character more. */
const NAME = `left(${AGENT_NAME}, ${MAX_NAME_CHARS}) || case when char_length(${AGENT_NAME}) > ${MAX_NAME_CHARS} then '…' else '' end`;

/** Reads every request of an agent in the window under the label `other`, by the names they gave. */
export async function sumOtherNames(
  sql: Sql,
  { tenantId, host, kind }: Pick<ObservationScope, 'tenantId' | 'host' | 'kind'>,
  window: Span,
  most: number,
): Promise<OtherNames> {
  if (isEmpty(window)) return { named: [], rest: [], restNames: 0 };
  const binder = new Binder();
  const scope = { tenantId, host, kind, verdict: null, agent: { label: 'other' } };
  const where = `${observationConditions(binder, scope)} and o.classified_as = 'agent' and ${within(binder, 'o.at', window)}`;
  const place = `place <= ${binder.bind(most)}`;
  const rows = await sql.query<SumRow & { readonly is_named: boolean; readonly names: number } & Record<string, unknown>>(
    `with seen as (
       select ${NAME} as name, o.verdict, coalesce(o.reason, '') as reason, sum(o.count) as hits, sum(o.count * coalesce(o.micro, 0)) as micro,
         coalesce(sum(o.count) filter (where o.verified), 0) as verified,
         coalesce(sum(o.count * coalesce(o.micro, 0)) filter (where o.verified), 0) as verified_micro,
         coalesce(sum(o.count) filter (where o.sig_invalid), 0) as invalid
       from observation o where ${where} group by 1, 2, 3
     ), ranked as (
       select name, row_number() over (order by sum(hits) desc, name) as place from seen group by name
     )
     select ${place} as is_named, '' as host, verdict, '' as classified_as, '' as kind, reason, '' as agent,
       case when ${place} then name else '' end as key, (select count(*)::int from ranked) as names, ${SUMS}
     from seen join ranked using (name) group by 1, verdict, reason, key order by min(place), verdict`,
    binder.values,
  );
  const named = rows.filter(({ is_named: isNamed }) => isNamed);
  const rest = rows.filter(({ is_named: isNamed }) => !isNamed);
  return {
    named: named.map(sumFromRow),
    rest: rest.map(sumFromRow),
    restNames: (rows[0]?.names ?? 0) - new Set(named.map(({ key }) => key)).size,
  };
}
