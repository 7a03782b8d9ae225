import { heartbeat } from '@temporalio/activity';
import type { RetentionDeps } from '../modules/operations/use/retention.ts';
import { forgetWhatEnded, noteNight } from '../modules/operations/use/retention.ts';
import { checkRollups, gatherRollups, keepDaysAhead } from '../modules/reports/use/rollups.ts';
import { beating } from './beating.ts';

const HEARTBEAT_MS = 60_000;

/** The activities of reports. */
export interface ReportActivities {
  /**
   * The nightly round: makes the partitions of the days ahead, gathers the rollups of days that are over into one row a key and into their
   * months, compares every site's rollups with their rows, then forgets what ended, in slices; returns how many sites were rebuilt. A site
   * that fails keeps nothing else from its turn; then the round fails in the end.
   */
  checkRollups(input: { readonly days: number }): Promise<number>;
}

/** The activities over one set of dependencies. */
export function createReportActivities(deps: RetentionDeps): ReportActivities {
  return {
    checkRollups: async ({ days }) => {
      await keepDaysAhead(deps);
      const job = { days, tenantId: null, onSite: () => heartbeat() };
      // However old the day: what came late stays beside the others until it is gathered.
      const [gathered] = await Promise.allSettled([gatherRollups(deps, { ...job, days: null })]);
      const [checked] = await Promise.allSettled([checkRollups(deps, job)]);
      // Last: whatever keeps old rows from going must not keep sums from being compared.
      await beating(HEARTBEAT_MS, () => forgetWhatEnded(deps));
      if (gathered.status === 'rejected') throw gathered.reason;
      if (checked.status === 'rejected') throw checked.reason;
      await noteNight(deps);
      return checked.value.length;
    },
  };
}
