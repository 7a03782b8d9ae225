import type { Client } from '@temporalio/client';
import { ensureStanding } from '../../../platform/temporal/standing.ts';

/** Sees to it that each network's reconciler runs; one that runs already takes the interval over. */
export async function startReconcilers(
  client: Client,
  options: { readonly networks: readonly string[]; readonly taskQueue: string; readonly intervalMs: number },
): Promise<void> {
  for (const network of options.networks) {
    const input = { network, intervalMs: options.intervalMs };
    const { taskQueue } = options;
    await ensureStanding(client, { workflow: 'reconcileChain', workflowId: `reconcileChain:${network}`, taskQueue, input });
  }
}
