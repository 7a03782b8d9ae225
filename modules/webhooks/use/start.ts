import type { Client } from '@temporalio/client';
import type { RetryStart } from '../rules/deliveryWorkflow.ts';
import type { RecoveryStart } from '../rules/recovery.ts';
import type { RetryStarter } from './deps.ts';

/** Workflow tasks are short; a worker that died is noticed soon (safety 20). */
const TASK_TIMEOUT = '5s';

/**
 * Sees to it that the long-running webhook workflows run: `closeEventWindows`, and `dispatchWebhooks:<shard>` for each shard.
 * Those that run already stay as they are, so every worker may call it at its start.
 */
export async function ensureWebhookWorkflows(
  client: Client,
  options: { readonly shards: number; readonly taskQueue: string },
): Promise<void> {
  const common = {
    taskQueue: options.taskQueue,
    workflowIdConflictPolicy: 'USE_EXISTING',
    workflowTaskTimeout: TASK_TIMEOUT,
  } as const;
  await client.workflow.start('closeEventWindows', { ...common, workflowId: 'closeEventWindows', args: [] });
  for (let shard = 0; shard < options.shards; shard++) {
    await client.workflow.start('dispatchWebhooks', { ...common, workflowId: `dispatchWebhooks:${shard}`, args: [{ shard }] });
  }
}

/** Starts `deliverWebhook` as `delivery:<id>` and `recoverEndpoint` as `recoverEndpoint:<id>`, unless it runs. */
export function createRetryStarter(client: Client, taskQueue: string): RetryStarter {
  const common = { taskQueue, workflowIdConflictPolicy: 'USE_EXISTING', workflowTaskTimeout: TASK_TIMEOUT } as const;
  return {
    start: async (retry: RetryStart) => {
      await client.workflow.start('deliverWebhook', { ...common, workflowId: `delivery:${retry.deliveryId}`, args: [retry] });
    },
    recover: async ({ tenantId, endpointId }) => {
      const args: [RecoveryStart] = [{ tenantId, endpointId, round: 0 }];
      await client.workflow.start('recoverEndpoint', { ...common, workflowId: `recoverEndpoint:${endpointId}`, args });
    },
  };
}
