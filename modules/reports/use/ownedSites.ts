import type { Sql } from '../../../db/database.ts';
import { ServiceError } from '../../kernel/errors.ts';
import type { ReadableWindow } from '../../kernel/time/window.ts';
import type { SiteWindow } from '../store/earnings/crossings.ts';
import { sumSites } from '../store/earnings/earnings.ts';
import { listPlans } from '../store/sites.ts';
import { add } from './earnings.ts';
import type { AskedWindow, ReportDeps, Totals } from './request.ts';
import { comparedWindow, frameOf } from './request.ts';

/** Most sites that are added up at once. */
export const MAX_SUMMED_SITES = 100;

/** What one site earned in a window, as far back as its own plan reads. */
export interface SiteEarnings extends Totals {
  readonly tenantId: string;
  readonly window: ReadableWindow;
  /** The window before; null unless asked for. */
  readonly previous: Totals | null;
}

/** What several sites earned, each and together. */
export interface SitesEarnings {
  readonly generatedAtMs: number;
  readonly totals: Totals;
  readonly previous: Totals | null;
  /** The most money first. */
  readonly sites: readonly SiteEarnings[];
}

/**
 * What the sites of a caller earned in a window; the caller's own are given, and nothing of others is read. Each is read by its own id, all
 * of one moment and in one statement a window. Throws invalid_parameter for more than `MAX_SUMMED_SITES`, and database_unavailable.
 */
export async function readSitesEarnings(
  deps: ReportDeps,
  tenantIds: readonly string[],
  { compare, ...asked }: AskedWindow & { readonly compare: boolean },
): Promise<SitesEarnings> {
  if (tenantIds.length > MAX_SUMMED_SITES) {
    throw new ServiceError(
      'invalid_parameter',
      `tenantIds: you have ${tenantIds.length} sites; name at most ${MAX_SUMMED_SITES}`,
      {
        parameter: 'tenantIds',
      },
    );
  }
  return await deps.database.transaction(async (sql) => {
    const plans = await listPlans(sql, tenantIds);
    const known = tenantIds.filter((tenantId) => plans.has(tenantId));
    const sites = known.map((tenantId) => ({ tenantId, hosts: [], plan: plans.get(tenantId) ?? null }));
    const frames = sites.map((site) => frameOf(deps, site, asked));
    const windows = frames.map(({ window }) => window);
    const now = await totalsOf(sql, known, windows);
    const before = compare
      ? await totalsOf(
          sql,
          known,
          frames.map((frame, n) => comparedWindow(asked, frame, sites[n] as (typeof sites)[number])),
        )
      : null;
    const each = known.map((tenantId, n): SiteEarnings => {
      return { tenantId, window: windows[n] as ReadableWindow, ...(now[n] as Totals), previous: before?.[n] ?? null };
    });
    return {
      generatedAtMs: frames[0]?.generatedAtMs ?? deps.clock(),
      totals: together(now),
      previous: before && together(before),
      sites: each.toSorted(mostFirst),
    };
  }, 'repeatable read read only');
}

/** The totals of each site in its window, in their order. */
async function totalsOf(sql: Sql, tenantIds: readonly string[], windows: readonly ReadableWindow[]): Promise<Totals[]> {
  const sites = tenantIds.map((tenantId, n): SiteWindow => ({ tenantId, window: windows[n] as ReadableWindow }));
  const sums = Map.groupBy(await sumSites(sql, sites), ({ place }) => place);
  return sites.map((_site, place) => add(sums.get(place) ?? []));
}

function together(all: readonly Totals[]): Totals {
  return {
    events: all.reduce((sum, { events }) => sum + events, 0),
    reads: all.reduce((sum, { reads }) => sum + reads, 0),
    citations: all.reduce((sum, { citations }) => sum + citations, 0),
    grossMicro: all.reduce((sum, { grossMicro }) => sum + grossMicro, 0n),
  };
}

function mostFirst(a: SiteEarnings, b: SiteEarnings): number {
  if (a.grossMicro === b.grossMicro) return a.tenantId < b.tenantId ? -1 : 1;
  return a.grossMicro > b.grossMicro ? -1 : 1;
}
