import { heartbeat } from '@temporalio/activity';
import { forgetWhatEnded } from '../services/operations/forget.ts';
import type { ReportDeps } from '../services/reports/request.ts';
import { checkRollups, keepDaysAhead } from '../services/reports/rollups.ts';

/** The activities of reports. */
export interface ReportActivities {
  /**
   * The nightly round: makes the partitions of the days ahead, compares every site's rollups with their rows, then forgets what
   * ended; returns how many sites were rebuilt.
   */
  checkRollups(input: { readonly days: number }): Promise<number>;
}

/** The activities over one set of dependencies. */
export function createReportActivities(deps: ReportDeps): ReportActivities {
  return {
    checkRollups: async ({ days }) => {
      await keepDaysAhead(deps);
      const rebuilt = await checkRollups(deps, { days, tenantId: null, onSite: () => heartbeat() });
      // Last: whatever keeps old rows from going must not keep sums from being compared.
      await forgetWhatEnded(deps);
      return rebuilt.length;
    },
  };
}
