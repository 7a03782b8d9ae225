import { Binder } from '../../../../db/binder.ts';
import type { Sql } from '../../../../db/database.ts';
import type { Span } from '../../../kernel/time/window.ts';
import { isEmpty } from '../../../kernel/time/window.ts';
import type { SplitCursor, SplitPage } from '../earnings/pages.ts';
import { rowsToRead } from '../earnings/pages.ts';
import { isWholeTenant } from '../scope.ts';
import type { ObservationRow, StandingObservation } from './observationList.ts';
import { firstLook, listObservations, newestObservations } from './observationList.ts';
import type { ObservationScope, ObservationSum, SumRow } from './observations.ts';
import { agentSums, nearSums, observationSums, sumFromRow, tenantSums } from './observations.ts';

/** What an audit begins with. */
export interface AuditOverview {
  /** By everything but the agent; hosts and kinds only where they are asked for. */
  readonly sums: ObservationSum[];
  /** By agent label, verdict (denied, paid, or empty) and reason of a paid one, agents only. */
  readonly agents: ObservationSum[];
  readonly recent: SplitPage<StandingObservation>;
}

/** What an overview holds besides its sums. */
export interface OverviewParts {
  /** The part of the window that the list begins with; it has an end. */
  readonly listed: Span;
  readonly limit: number;
  readonly cursor: SplitCursor | null;
  /** False: sums of a whole site need not tell hosts and kinds apart, and have '' for both. */
  readonly tellsHosts: boolean;
}

/**
 * The sums of a window, those of its agents and a page of its list, in one trip to Postgres as a rule. Not a named statement: planned
 * again, it opens only the days it reads.
 */
export async function readAuditOverview(
  sql: Sql,
  scope: ObservationScope,
  window: Span,
  { listed, limit, cursor, tellsHosts }: OverviewParts,
): Promise<AuditOverview> {
  if (isEmpty(window)) return { sums: [], agents: [], recent: { rows: [], next: null, isCut: false } };
  const binder = new Binder();
  const isOfTenant = isWholeTenant(scope) && !tellsHosts;
  const { near, sums, agents } = isOfTenant ? ofTenant(binder, scope, window) : apart(binder, scope, window);
  const [row] = await sql.query<{ sums: DimensionRow[]; agents: SumRow[] | null; looked: ObservationRow[] }>(
    `${near === undefined ? '' : `with near as materialized (${near})`}
     select ${sums} as sums, ${agents} as agents,
      ${listOf(newestObservations(binder, scope, [firstLook(listed)], rowsToRead(limit, cursor)))} as looked`,
    binder.values,
  );
  const totals = row?.sums ?? [];
  return {
    sums: totals.filter(({ dimension }) => dimension !== 'label').map(sumFromRow),
    agents: (row?.agents ?? totals.filter(({ dimension }) => dimension === 'label')).map(sumFromRow),
    recent: await listObservations(sql, scope, listed, { limit, cursor, looked: row?.looked ?? [] }),
  };
}

/** A sum, and of what where one statement has both. */
type DimensionRow = SumRow & { readonly dimension?: string };

/** The pieces of an overview's statement. */
interface Statements {
  readonly near: string | undefined;
  readonly sums: string;
  readonly agents: string;
}

/** Both sums of a whole site at once. */
function ofTenant(binder: Binder, scope: ObservationScope, window: Span): Statements {
  const { near, sums } = tenantSums(binder, scope, window);
  return { near, sums: listOf(sums), agents: 'null::json' };
}

/** The two sums by themselves: they tell more apart, or are filtered and read from different rollups. */
function apart(binder: Binder, scope: ObservationScope, window: Span): Statements {
  const shared = nearSums(binder, scope, window);
  const near = shared && 'near';
  return {
    near: shared,
    sums: listOf(observationSums(binder, scope, window, near)),
    agents: listOf(agentSums(binder, scope, window, near)),
  };
}

function listOf(statement: string): string {
  return `(select coalesce(json_agg(one), '[]') from (${statement}) one)`;
}
