import type { ReadingDeps } from '../../../paging/use/deps.ts';
import type { Owned } from '../../../paging/use/pages.ts';
import { listOf } from '../../../paging/use/pages.ts';
import { readGroups } from '../../../reports/store/earnings/earnings.ts';
import type { AskedWindow, ReportFrame, ReportSite } from '../../../reports/use/request.ts';
import { readReport } from '../../../reports/use/request.ts';
import type { UsageReportRow, UseSum } from '../../store/usageReports.ts';
import { sumUsesOfLicences, sumUsesOfPages, USAGE_REPORTS } from '../../store/usageReports.ts';

export type { UseSum };
/** A report of use, with its site. */
export type UsageReportShown = Owned<UsageReportRow>;

/** Reports of use, one by one. */
export const usageReports = listOf(USAGE_REPORTS);

/** What was reported of the uses of each licence, in the order of the licences. Throws database_unavailable. */
export async function usesOfLicences({ reading }: ReadingDeps, tenantId: string, jtis: readonly string[]): Promise<UseSum[][]> {
  const sums = Map.groupBy(await sumUsesOfLicences(reading, tenantId, jtis), ({ key }) => key);
  return jtis.map((jti) => sums.get(jti) ?? []);
}

/** A page that was used, as buyers report it, beside what of it was sold in the same window. */
export interface UsedPage {
  readonly slug: string;
  readonly uses: readonly UseSum[];
  /** Reads and citations sold of the page itself, net; what licences over many pages sold is none of them. */
  readonly reads: number;
  readonly citations: number;
}

/** What was reported of a window, beside what was sold. */
export interface UsageBesideSales extends ReportFrame {
  /** The most used first. */
  readonly pages: readonly UsedPage[];
}

/** Most pages of a report. */
const MOST_PAGES = 1_000;

/** Pages by reported use in a window, with their sales beside them: two sums of one snapshot. Throws database_unavailable. */
export function readUsageBesideSales(
  { reading, clock }: ReadingDeps,
  site: ReportSite,
  { host, ...asked }: AskedWindow & { readonly host: string | null },
): Promise<UsageBesideSales> {
  const { tenantId } = site;
  return readReport({ database: reading, clock }, site, asked, async (sql, frame) => {
    const { window } = frame;
    const bySlug = Map.groupBy(await sumUsesOfPages(sql, { tenantId, host, window, most: MOST_PAGES }), ({ key }) => key);
    const keys = [...bySlug.keys()];
    const scope = { tenantId, host, kind: null, purpose: 'page' } as const;
    const sold = keys.length === 0 ? [] : await readGroups(sql, scope, window, { groupBy: 'slug', keys });
    const salesOf = new Map(sold.map(({ key, reads, citations }) => [key, { reads, citations }]));
    const pages = [...bySlug].map(([slug, uses]) => ({ slug, uses, ...(salesOf.get(slug) ?? { reads: 0, citations: 0 }) }));
    return { ...frame, pages };
  });
}
