import type { Span } from '../../../domain/reports/window.ts';
import { isEmpty } from '../../../domain/reports/window.ts';
import type { Sql } from '../../database.ts';
import { Binder } from '../binder.ts';
import type { SplitCursor, SplitPage } from '../earnings/pages.ts';
import { rowsToRead } from '../earnings/pages.ts';
import type { ObservationRow, StandingObservation } from './observationList.ts';
import { firstLook, listObservations, newestObservations } from './observationList.ts';
import type { ObservationScope, ObservationSum, SumRow } from './observations.ts';
import { agentSums, nearSums, observationSums, sumFromRow } from './observations.ts';

/** What an audit begins with. */
export interface AuditOverview {
  /** By everything but the agent. */
  readonly sums: ObservationSum[];
  /** By agent label and verdict (denied, paid, or empty), agents only. */
  readonly agents: ObservationSum[];
  readonly recent: SplitPage<StandingObservation>;
}

/**
 * The sums of a window, those of its agents and a page of its list, in one trip to Postgres as a rule. `listed` is the part of the
 * window that the list begins with, and has an end. Not a named statement: planned anew, it opens only the days it reads.
 */
export async function readAuditOverview(
  sql: Sql,
  scope: ObservationScope,
  window: Span,
  { listed, limit, cursor }: { readonly listed: Span; readonly limit: number; readonly cursor: SplitCursor | null },
): Promise<AuditOverview> {
  if (isEmpty(window)) return { sums: [], agents: [], recent: { rows: [], next: null, isCut: false } };
  const binder = new Binder();
  const list = (statement: string): string => `(select coalesce(json_agg(one), '[]') from (${statement}) one)`;
  const shared = nearSums(binder, scope, window);
  const near = shared && 'near';
  const [row] = await sql.query<{ sums: SumRow[]; agents: SumRow[]; looked: ObservationRow[] }>(
    `${shared === undefined ? '' : `with near as materialized (${shared})`}
     select ${list(observationSums(binder, scope, window, near))} as sums,
      ${list(agentSums(binder, scope, window, near))} as agents,
      ${list(newestObservations(binder, scope, [firstLook(listed)], rowsToRead(limit, cursor)))} as looked`,
    binder.values,
  );
  return {
    sums: row?.sums.map(sumFromRow) ?? [],
    agents: row?.agents.map(sumFromRow) ?? [],
    recent: await listObservations(sql, scope, listed, { limit, cursor, looked: row?.looked ?? [] }),
  };
}
