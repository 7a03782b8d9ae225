import { proxyActivities } from '@temporalio/workflow';
import type { ReportActivities } from '../activities/reports.ts';
import { keepStatus } from './status.ts';

const { checkRollups: check } = proxyActivities<ReportActivities>({
  startToCloseTimeout: '6h',
  heartbeatTimeout: '15m',
  retry: { initialInterval: '1m', backoffCoefficient: 2, maximumAttempts: 3 },
});

/** Compares rollups with their rows, once; a schedule runs it every night (safety 23). Returns how many sites differed. */
export async function checkRollups(input: { readonly days: number }): Promise<number> {
  const told = keepStatus({ state: 'compares', days: input.days });
  const differed = await check(input);
  told.tell({ state: 'done', 'sites that differed': differed });
  return differed;
}
