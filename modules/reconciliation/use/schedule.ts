import type { Client } from '@temporalio/client';
import { ensureSchedule } from '../../../platform/temporal/schedules.ts';

/** Sees to it that each network is reconciled every `intervalMs`; one that is already takes the interval over. */
export async function scheduleReconciliation(
  client: Client,
  options: { readonly networks: readonly string[]; readonly taskQueue: string; readonly intervalMs: number },
): Promise<void> {
  const { networks, taskQueue, intervalMs } = options;
  for (const network of networks) {
    await ensureSchedule(client, {
      scheduleId: `reconcileChain:${network}`,
      workflow: 'reconcileChain',
      taskQueue,
      args: [{ network }],
      at: { everyMs: intervalMs },
      summary: 'the ledger compared with the chain',
      attributes: { Network: network },
    });
  }
}
