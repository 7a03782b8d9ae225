import type { Client } from '@temporalio/client';

/** A workflow that runs for good, with an interval between its rounds. */
export interface Standing {
  readonly workflow: 'sweepPayments' | 'reconcileChain' | 'sweepAnomalies';
  readonly workflowId: string;
  readonly taskQueue: string;
  readonly input: { readonly intervalMs: number };
}

/** Workflow tasks are short; a worker that died is noticed soon (safety 20). */
const TASK_TIMEOUT = '5s';

/**
 * Sees to it that it runs, with this interval: one that runs already takes the interval over at once, and keeps the rest of what it was
 * started with. A second call changes nothing; of workers with different intervals the one that starts last is right.
 */
export async function ensureStanding(client: Client, { workflow, workflowId, taskQueue, input }: Standing): Promise<void> {
  await client.workflow.signalWithStart(workflow, {
    taskQueue,
    workflowId,
    workflowTaskTimeout: TASK_TIMEOUT,
    args: [input],
    signal: 'setInterval',
    signalArgs: [input.intervalMs],
  });
}
