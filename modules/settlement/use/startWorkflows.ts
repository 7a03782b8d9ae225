import type { Client } from '@temporalio/client';
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import { isChainUnavailable } from '../../../platform/chain/rpc/rpc.ts';
import { ensureSchedule } from '../../../platform/temporal/schedules.ts';
import { pairsOf } from '../../kernel/workflow/attributes.ts';
import { TASK_TIMEOUT } from '../../kernel/workflow/taskTimeout.ts';
import { batchStart, workflowIdOf } from '../rules/batchOutcome.ts';
import type { SettlementDeps, StartBatch } from './deps.ts';
import { startRelayer } from './relayer/nonce.ts';

/** Of one run of the sweeper; the first is a whole one. */
const LOOKS = 5;

/** Starts `settlePayments` as `settle:<network>:<batchId>`, to be found by its payments, their sites and its transaction. */
export function createBatchStart(client: Client, taskQueue: string): StartBatch {
  return async (batch, { idleMs } = {}) => {
    const { summary, attributes } = batchStart(batch);
    try {
      await client.workflow.start('settlePayments', {
        taskQueue,
        workflowId: workflowIdOf(batch),
        workflowTaskTimeout: TASK_TIMEOUT,
        staticSummary: summary,
        typedSearchAttributes: pairsOf(attributes),
        args: [batch],
        ...(idleMs !== undefined && { startDelay: idleMs }),
      });
      return true;
    } catch (error) {
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
      return false;
    }
  };
}

/** Sees to it that each network is swept, every `intervalMs`; one that is swept already takes the interval over at once. */
export async function scheduleSweeps(
  client: Client,
  options: { readonly networks: readonly string[]; readonly taskQueue: string; readonly intervalMs: number },
): Promise<void> {
  const { networks, taskQueue, intervalMs } = options;
  for (const network of networks) {
    await ensureSchedule(client, {
      scheduleId: `sweepPayments:${network}`,
      workflow: 'sweepPayments',
      taskQueue,
      args: [{ network, intervalMs, looks: LOOKS }],
      at: { everyMs: LOOKS * intervalMs },
      summary: `${LOOKS} looks at what no live workflow holds, one every ${intervalMs / 1_000} s`,
      attributes: { Network: network },
    });
  }
}

/**
 * Gives every relayer key its row. A count of the chain that is ahead of ours is left to the sweeper's rounds (safety 8), and so is a key
 * of a network that does not answer.
 */
export async function prepareRelayers(deps: SettlementDeps): Promise<void> {
  for (const { id: network } of deps.networks.list) {
    for (const { address } of deps.relayersOf(network)) {
      try {
        await startRelayer(deps, { network, address });
      } catch (error) {
        if (!isChainUnavailable(error)) throw error;
        deps.log.warn({ network, address }, 'a relayer key waits for a node of its network');
      }
    }
  }
}
