import type { Client } from '@temporalio/client';

/** Sees to it that the sweep over anomaly rules runs; one that runs already stays as it is. */
export async function startAnomalySweep(
  client: Client,
  options: { readonly taskQueue: string; readonly intervalMs: number },
): Promise<void> {
  await client.workflow.start('sweepAnomalies', {
    taskQueue: options.taskQueue,
    workflowId: 'sweepAnomalies',
    workflowIdConflictPolicy: 'USE_EXISTING',
    workflowTaskTimeout: '5s',
    args: [{ intervalMs: options.intervalMs }],
  });
}
