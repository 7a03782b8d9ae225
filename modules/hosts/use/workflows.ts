import type { Client } from '@temporalio/client';
import { WithStartWorkflowOperation } from '@temporalio/client';
import { ServiceError } from '../../kernel/errors.ts';
import { hostStart } from '../rules/hostStart.ts';
import type { CheckOutcome, HostKey, HostWorkflows } from './deps.ts';

/** A check is over within 12 s, or something of ours is away. */
const LIMIT_MS = 16_000;

/** The workflows of hosts behind a Temporal client; each call starts the workflow when it does not run. */
export function createHostWorkflows(client: Client, taskQueue: string): HostWorkflows {
  const update = async <T>(name: string, key: HostKey): Promise<T> => {
    try {
      return await updateOnce<T>(client, taskQueue, name, key);
    } catch (cause) {
      // A workflow that ended just now takes no update; the second call starts another one.
      if ((cause as Error).name !== 'WorkflowUpdateFailedError' && !/already completed/i.test(String(cause))) throw away(cause);
    }
    return updateOnce<T>(client, taskQueue, name, key).catch((cause: unknown) => {
      throw away(cause);
    });
  };
  return {
    opened: (key) => update<void>('opened', key),
    check: (key) => update<CheckOutcome>('check', key),
  };
}

function updateOnce<T>(client: Client, taskQueue: string, name: string, { tenantId, host }: HostKey): Promise<T> {
  const startWorkflowOperation = new WithStartWorkflowOperation('verifyHost', {
    ...hostStart({ tenantId, host }),
    taskQueue,
    workflowIdConflictPolicy: 'USE_EXISTING',
  });
  return client.withDeadline(Date.now() + LIMIT_MS, () =>
    client.workflow.executeUpdateWithStart<never, T, []>(name, { startWorkflowOperation: startWorkflowOperation as never }),
  );
}

function away(cause: unknown): ServiceError {
  const error = new ServiceError('workflows_unavailable', 'the host cannot be checked right now; nothing is lost', {
    retryAfterSeconds: 5,
  });
  error.cause = cause;
  return error;
}
