import { heartbeat } from '@temporalio/activity';
import type { ReportDeps } from '../services/reports/request.ts';
import { checkRollups, keepDaysAhead } from '../services/reports/rollups.ts';

/** The activities of reports. */
export interface ReportActivities {
  /** Makes the partitions of the days ahead, then compares every site's rollups with their rows; returns how many were rebuilt. */
  checkRollups(input: { readonly days: number }): Promise<number>;
}

/** The activities over one set of dependencies. */
export function createReportActivities(deps: ReportDeps): ReportActivities {
  return {
    checkRollups: async ({ days }) => {
      await keepDaysAhead(deps);
      return (await checkRollups(deps, { days, tenantId: null, onSite: () => heartbeat() })).length;
    },
  };
}
