import { continueAsNew, proxyActivities } from '@temporalio/workflow';
import type { ReconcileActivities } from '../activities/reconciliation.ts';
import { watchInterval } from './interval.ts';

const { reconcileRound } = proxyActivities<ReconcileActivities>({
  startToCloseTimeout: '5m',
  heartbeatTimeout: '30s',
  retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '30s' },
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
  for (let round = 0; round < ROUNDS; round++) {
    const { behind } = await reconcileRound({ network: input.network });
    if (!behind) await interval.pause();
  }
  await continueAsNew<typeof reconcileChain>({ ...input, intervalMs: interval.ms });
}
