import type { Client } from '@temporalio/client';
import { ensureStanding } from '../../../platform/temporal/standing.ts';

/** Sees to it that the sweep over anomaly rules runs; one that runs already takes the interval over. */
export async function startAnomalySweep(
  client: Client,
  options: { readonly taskQueue: string; readonly intervalMs: number },
): Promise<void> {
  const { taskQueue, intervalMs } = options;
  await ensureStanding(client, { workflow: 'sweepAnomalies', workflowId: 'sweepAnomalies', taskQueue, input: { intervalMs } });
}
