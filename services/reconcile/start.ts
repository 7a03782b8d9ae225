import type { Client } from '@temporalio/client';

/** Sees to it that each network's reconciler runs; one that runs already stays as it is. */
export async function startReconcilers(
  client: Client,
  options: { readonly networks: readonly string[]; readonly taskQueue: string; readonly intervalMs: number },
): Promise<void> {
  for (const network of options.networks) {
    await client.workflow.start('reconcileChain', {
      taskQueue: options.taskQueue,
      workflowId: `reconcileChain:${network}`,
      workflowIdConflictPolicy: 'USE_EXISTING',
      workflowTaskTimeout: '5s',
      args: [{ network, intervalMs: options.intervalMs }],
    });
  }
}
