import type { Client } from '@temporalio/client';
import { TASK_TIMEOUT } from '../../kernel/workflow/taskTimeout.ts';

/** Sees to it that `sendMessages` runs; one that runs already stays as it is, so every worker may call it at its start. */
export async function ensureMessageWorkflow(client: Client, taskQueue: string): Promise<void> {
  await client.workflow.start('sendMessages', {
    taskQueue,
    workflowId: 'sendMessages',
    workflowIdConflictPolicy: 'USE_EXISTING',
    workflowTaskTimeout: TASK_TIMEOUT,
    staticSummary: 'e-mails, and alerts of budgets, sent as they are due',
    args: [],
  });
}
