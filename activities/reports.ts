import { heartbeat } from '@temporalio/activity';
import type { ReportDeps } from '../services/reports/request.ts';
import { checkRollups } from '../services/reports/rollups.ts';

/** The activities of reports. */
export interface ReportActivities {
  /** Compares every site's rollups of the last days with their rows; returns how many sites differed and were rebuilt. */
  checkRollups(input: { readonly days: number }): Promise<number>;
}

/** The activities over one set of dependencies. */
export function createReportActivities(deps: ReportDeps): ReportActivities {
  return {
    checkRollups: async ({ days }) => (await checkRollups(deps, { days, tenantId: null, onSite: () => heartbeat() })).length,
  };
}
