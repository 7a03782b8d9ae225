import { continueAsNew, proxyActivities } from '@temporalio/workflow';
import type { ReconcileActivities } from '../activities/reconciliation.ts';
import { watchInterval } from './interval.ts';
import { keepStatus } from './status.ts';

const { reconcileRound } = proxyActivities<ReconcileActivities>({
  startToCloseTimeout: '5m',
  heartbeatTimeout: '30s',
  retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '30s' },
  summary: 'read a range of blocks as evidence',
});

/** How the reconciler of a network runs. */
export interface ReconcileChainInput {
  readonly network: string;
  readonly intervalMs: number;
}

const ROUNDS = 240;

/**
 * Reads a network's transfers as evidence for good, as `reconcileChain:<network>`: from the stored block on, again from below the
 * safe block in every round; without a pause while it is behind (invariant 10).
 */
export async function reconcileChain(input: ReconcileChainInput): Promise<void> {
  const interval = watchInterval(input.intervalMs);
  const told = keepStatus({ network: input.network });
  told.tell({}, { Network: input.network });
  for (let round = 0; round < ROUNDS; round++) {
    const { behind, fromBlock, toBlock, read, vanished } = await reconcileRound({ network: input.network });
    told.tell({
      state: behind ? 'behind the chain' : 'up to date',
      'last round': new Date().toISOString(),
      blocks: `${fromBlock} to ${toBlock}`,
      'transactions read': read,
      'transactions that vanished': vanished,
    });
    if (!behind) await interval.pause();
  }
  await continueAsNew<typeof reconcileChain>({ ...input, intervalMs: interval.ms });
}
