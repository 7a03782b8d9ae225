import type { Client } from '@temporalio/client';
import { TASK_TIMEOUT } from '../../kernel/workflow/taskTimeout.ts';

/** Sees to it that `sendBudgetAlerts` runs; one that runs already stays as it is, so every worker may call it at its start. */
export async function ensureAlertWorkflow(client: Client, taskQueue: string): Promise<void> {
  await client.workflow.start('sendBudgetAlerts', {
    taskQueue,
    workflowId: 'sendBudgetAlerts',
    workflowIdConflictPolicy: 'USE_EXISTING',
    workflowTaskTimeout: TASK_TIMEOUT,
    staticSummary: 'alerts of budgets, sent to the endpoints of accounts',
    args: [],
  });
}
