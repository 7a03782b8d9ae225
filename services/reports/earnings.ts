import type { Sql } from '../../db/database.ts';
import { countAuthors } from '../../db/reports/authors.ts';
import type { CrossingScope } from '../../db/reports/crossings.ts';
import type { CrossingGroup, CrossingSum, StandingCrossing } from '../../db/reports/earnings.ts';
import { listCrossings, readOverview, sumCrossings } from '../../db/reports/earnings.ts';
import type { Page } from '../../db/reports/pages.ts';
import type { Span } from '../../domain/window.ts';
import { previousWindow } from '../../domain/window.ts';
import type { ReportDeps, ReportFrame, ReportQuery, ReportSite, Totals } from './request.ts';
import { readReport, untilCursor } from './request.ts';

/** What earnings can be broken down by. */
export const EARNINGS_GROUPS = ['host', 'slug', 'author', 'kind'] as const;
/** One of them. */
export type EarningsGroup = (typeof EARNINGS_GROUPS)[number];

/** Net sums of a window, with how many authors were paid. */
export interface EarningsTotals extends Totals {
  readonly authors: number;
}

/** One group; `key` is a host, a slug, a wallet in lower case, or a kind. */
export interface BreakdownRow extends Totals {
  readonly key: string;
  /** The author's id where one is known; null where the key says all. */
  readonly authorId: string | null;
}

/** Earnings of a window. */
export interface Earnings extends ReportFrame {
  readonly totals: EarningsTotals;
  /** Totals of the window before; null unless asked for. */
  readonly previous: EarningsTotals | null;
  /** Largest first; null unless asked for. */
  readonly breakdown: readonly BreakdownRow[] | null;
  /** The newest crossing of the window that stands; null without one. */
  readonly lastEventAtMs: number | null;
  readonly recent: Page<StandingCrossing>;
}

/**
 * Earnings of a site in a window: sums from the rollups, exact whatever the list's limit; mock payments
 * have no crossings and count nowhere. Throws database_unavailable.
 */
export function readEarnings(
  deps: ReportDeps,
  site: ReportSite,
  query: ReportQuery & { readonly groupBy: EarningsGroup | null },
): Promise<Earnings> {
  const scope = { tenantId: site.tenantId, host: query.host, kind: query.kind };
  const { groupBy } = query;
  const own = groupBy === 'slug' || groupBy === 'author' ? groupBy : null;
  const mayBeOne = !query.compare && query.cursorMs === null;
  const work = async (sql: Sql, frame: ReportFrame): Promise<Earnings> => {
    const { window } = frame;
    const parts = { listed: untilCursor(window, query.cursorMs), limit: query.limit, groupBy: own };
    const { sums, authors, recent, groups } = await readOverview(sql, scope, window, parts);
    const totals = { ...add(sums), authors };
    const before = query.compare ? previousWindow(window, site.plan, frame.generatedAtMs) : null;
    return {
      ...frame,
      totals,
      previous: before && (await totalsOf(sql, scope, before)),
      breakdown: groupBy === null ? null : own === null ? groupsBy(groupBy === 'host' ? 'host' : 'kind', sums) : groupsOf(groups),
      lastEventAtMs: (await newest(sql, scope, window, query.cursorMs === null ? recent : null)) ?? null,
      recent,
    };
  };
  return readReport(deps, site, query, work, { mayBeOne });
}

async function totalsOf(sql: Sql, scope: CrossingScope, window: Span): Promise<EarningsTotals> {
  return { ...add(await sumCrossings(sql, scope, window, 'total')), authors: await countAuthors(sql, scope, window) };
}

/** When the newest crossing was; a first page knows. */
async function newest(sql: Sql, scope: CrossingScope, window: Span, first: Page<StandingCrossing> | null) {
  const page = first ?? (await listCrossings(sql, scope, window, 1));
  return page.rows[0]?.atMs;
}

/** Totals added up by host or kind. */
function groupsBy(column: 'host' | 'kind', sums: readonly CrossingSum[]): BreakdownRow[] {
  const groups = Map.groupBy(sums, (row) => row[column]);
  return sorted([...groups].map(([key, members]) => ({ key, authorId: null, ...add(members) })));
}

function groupsOf(groups: readonly CrossingGroup[]): BreakdownRow[] {
  return sorted(
    groups.map(({ reads, citations, micro, ...group }) => ({
      ...group,
      events: reads + citations,
      reads,
      citations,
      grossMicro: micro,
    })),
  );
}

function sorted(rows: readonly BreakdownRow[]): BreakdownRow[] {
  return rows.filter((row) => row.events !== 0 || row.grossMicro !== 0n).sort(largestFirst);
}

/** Order of groups: the most money first, then by key. */
export function largestFirst(
  a: { readonly grossMicro: bigint; readonly key: string },
  b: { readonly grossMicro: bigint; readonly key: string },
): number {
  if (a.grossMicro !== b.grossMicro) return a.grossMicro > b.grossMicro ? -1 : 1;
  return a.key < b.key ? -1 : 1;
}

/** Adds sums up. */
export function add(sums: readonly CrossingSum[]): Totals {
  const count = (kind: string) => Number(sums.reduce((sum, row) => (row.kind === kind ? sum + row.events : sum), 0n));
  const [reads, citations] = [count('read'), count('citation')];
  return { events: reads + citations, reads, citations, grossMicro: sums.reduce((sum, row) => sum + row.micro, 0n) };
}
