import type { Times, TimesScope } from '../store/settlementTimes.ts';
import { readTimes } from '../store/settlementTimes.ts';
import type { AskedWindow, ReportDeps, ReportFrame, ReportSite } from './request.ts';
import { readShortReport } from './request.ts';

/** How long payments took to be settled, and to be final. */
export interface SettlementTimes extends ReportFrame {
  readonly settled: Times;
  readonly final: Times;
}

/** Times of the live payments stored in a window that stand settled. Throws database_unavailable. */
export function readSettlementTimes(
  deps: ReportDeps,
  site: ReportSite,
  { host, kind, purpose, ...asked }: AskedWindow & Omit<TimesScope, 'tenantId'>,
): Promise<SettlementTimes> {
  const scope = { tenantId: site.tenantId, host, kind, purpose };
  const work = async (sql: Parameters<typeof readTimes>[0], frame: ReportFrame) => ({
    ...frame,
    ...(await readTimes(sql, scope, frame.window)),
  });
  return readShortReport(deps, site, asked, work);
}
