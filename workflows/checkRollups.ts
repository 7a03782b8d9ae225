import { proxyActivities } from '@temporalio/workflow';
import type { ReportActivities } from '../activities/reports.ts';
import { keepStatus } from './status.ts';

const { checkRollups: check } = proxyActivities<ReportActivities>({
  startToCloseTimeout: '6h',
  heartbeatTimeout: '15m',
  retry: { initialInterval: '1m', backoffCoefficient: 2, maximumAttempts: 3 },
  summary: 'sums of every site compared, then what ended forgotten',
});

/** The nightly round: rollups compared with their rows (safety 23), and what ended forgotten. Run by the schedule `checkRollups`. */
export async function checkRollups(input: { readonly days: number }): Promise<{ readonly sitesThatDiffered: number }> {
  const told = keepStatus({ state: 'compares', days: input.days });
  const sitesThatDiffered = await check(input);
  told.tell({ state: 'done', 'sites that differed': sitesThatDiffered });
  return { sitesThatDiffered };
}
