import type { BatchSums } from '../store/batches.ts';
import { sumBatches } from '../store/batches.ts';
import type { AskedWindow, ReportDeps, ReportFrame, ReportSite } from './request.ts';
import { readShortReport } from './request.ts';

/** What the batches of a window carried and cost. */
export interface BatchReport extends ReportFrame {
  /** The one with the most batches first. */
  readonly networks: readonly BatchSums[];
}

/** The mined batches that carry a site's live payments of a window. Throws database_unavailable. */
export function readBatches(deps: ReportDeps, site: ReportSite, asked: AskedWindow): Promise<BatchReport> {
  return readShortReport(deps, site, asked, async (sql, frame) => ({
    ...frame,
    networks: await sumBatches(sql, site.tenantId, frame.window),
  }));
}
