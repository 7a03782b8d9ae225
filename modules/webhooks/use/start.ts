import type { Client } from '@temporalio/client';
import { ensureSchedule } from '../../../platform/temporal/schedules.ts';
import { TASK_TIMEOUT } from '../../kernel/workflow/taskTimeout.ts';
import type { RetryStart } from '../rules/deliveryWorkflow.ts';
import type { RecoveryStart } from '../rules/recovery.ts';
import type { RetryStarter } from './deps.ts';

/** A run over event windows of less than this covers several of them. */
const LEAST_PERIOD_MS = 60_000;

/**
 * Sees to it that `dispatchWebhooks:<shard>` runs for each shard; those that run already stay as they are, so every worker may call it
 * at its start.
 */
export async function ensureDispatchers(
  client: Client,
  options: { readonly shards: number; readonly taskQueue: string },
): Promise<void> {
  for (let shard = 0; shard < options.shards; shard++) {
    await client.workflow.start('dispatchWebhooks', {
      taskQueue: options.taskQueue,
      workflowId: `dispatchWebhooks:${shard}`,
      workflowIdConflictPolicy: 'USE_EXISTING',
      workflowTaskTimeout: TASK_TIMEOUT,
      args: [{ shard }],
    });
  }
}

/** Sees to it that event windows of `windowMs` are closed as they end. A second call changes nothing but the span. */
export async function scheduleWindowClosing(
  client: Client,
  { taskQueue, windowMs }: { readonly taskQueue: string; readonly windowMs: number },
): Promise<void> {
  const periodMs = Math.max(windowMs, LEAST_PERIOD_MS);
  await ensureSchedule(client, {
    scheduleId: 'closeEventWindows',
    workflow: 'closeEventWindows',
    taskQueue,
    args: [{ periodMs }],
    at: { everyMs: periodMs },
    summary: 'event windows closed as they end',
  });
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
