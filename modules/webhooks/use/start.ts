import type { Client } from '@temporalio/client';
import { ensureSchedule } from '../../../platform/temporal/schedules.ts';
import { TASK_TIMEOUT } from '../../kernel/workflow/taskTimeout.ts';
import type { RetryStart } from '../rules/retrying.ts';
import type { RetryStarter } from './deps.ts';

/** A run over event windows of less than this covers several of them. */
const LEAST_PERIOD_MS = 60_000;
/** A signal that takes longer is given up, so that those after it in its lane get their turn. */
const SIGNAL_MS = 10_000;

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
      staticSummary: `first attempts of webhook deliveries, part ${shard + 1} of ${options.shards}`,
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

/** Starts `retryDeliveries` as `endpoint:<id>`, or signals the one that runs. */
export function createRetryStarter(client: Client, taskQueue: string): RetryStarter {
  return {
    due: async ({ tenantId, endpointId }, inMs) => {
      const args: [RetryStart] = [{ tenantId, endpointId, probes: 0 }];
      await client.withDeadline(Date.now() + SIGNAL_MS, () =>
        client.workflow.signalWithStart('retryDeliveries', {
          taskQueue,
          workflowId: `endpoint:${endpointId}`,
          workflowTaskTimeout: TASK_TIMEOUT,
          staticSummary: `webhook receiver ${endpointId}`,
          args,
          signal: 'due',
          signalArgs: [inMs],
        }),
      );
    },
  };
}
