import type { Client } from '@temporalio/client';
import { isChainUnavailable } from '../../../platform/chain/rpc/rpc.ts';
import { ensureStanding } from '../../../platform/temporal/standing.ts';
import { pairsOf } from '../../kernel/workflow/attributes.ts';
import { batchStart } from '../rules/batchOutcome.ts';
import type { BatchProposal, StartBatch } from './batchQueue.ts';
import { workflowIdOf } from './batchQueue.ts';
import type { SettlementDeps } from './deps.ts';
import { startRelayer } from './relayer/nonce.ts';

/** Workflow tasks are short; a worker that died is noticed soon (safety 20). */
const TASK_TIMEOUT = '5s';
const FLUSH_EVERY = 5;

/** Starts `settlePayments` as `settle:<network>:<batchId>`, to be found by its payments, their sites and its transaction. */
export function createBatchStart(client: () => Client, taskQueue: string): StartBatch {
  return async (proposal: BatchProposal) => {
    const { summary, attributes } = batchStart(proposal);
    await client().workflow.start('settlePayments', {
      taskQueue,
      workflowId: workflowIdOf(proposal),
      workflowTaskTimeout: TASK_TIMEOUT,
      staticSummary: summary,
      typedSearchAttributes: pairsOf(attributes),
      args: [proposal],
    });
  };
}

/** Sees to it that each network's sweeper runs; one that runs already takes the interval over. */
export async function startSweepers(
  client: Client,
  options: { readonly networks: readonly string[]; readonly taskQueue: string; readonly intervalMs: number },
): Promise<void> {
  for (const network of options.networks) {
    const input = { network, intervalMs: options.intervalMs, flushEvery: FLUSH_EVERY };
    const { taskQueue } = options;
    await ensureStanding(client, { workflow: 'sweepPayments', workflowId: `sweepPayments:${network}`, taskQueue, input });
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
