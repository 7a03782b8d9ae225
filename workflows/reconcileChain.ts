import { proxyActivities } from '@temporalio/workflow';
import type { ReconcileActivities } from '../activities/reconciliation.ts';
import { keepStatus } from './status.ts';

const { reconcileRound } = proxyActivities<ReconcileActivities>({
  startToCloseTimeout: '5m',
  heartbeatTimeout: '30s',
  scheduleToCloseTimeout: '10m',
  retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '30s' },
  summary: 'read a range of blocks as evidence',
});

/** What a run of the reconciler read. */
export interface ReconcileResult {
  readonly state: 'behind the chain' | 'up to date';
  readonly fromBlock: number;
  readonly toBlock: number;
  /** Transactions read anew. */
  readonly read: number;
  /** Transactions that the chain no longer shows. */
  readonly vanished: number;
}

type RoundResult = Awaited<ReturnType<ReconcileActivities['reconcileRound']>>;

/** A run that is behind for longer leaves the rest to the next one. */
const ROUNDS = 240;

/**
 * Reads a network's transfers as evidence: from the stored block on, again from below the safe block, in as many rounds as it is behind
 * (invariant 10). Run by the schedule `reconcileChain:<network>`.
 */
export async function reconcileChain({ network }: { readonly network: string }): Promise<ReconcileResult> {
  const told = keepStatus({ network });
  let result: ReconcileResult | undefined;
  for (let round = 0; ; round++) {
    result = together(result, await reconcileRound({ network }));
    told.tell({ ...result });
    if (result.state === 'up to date' || round === ROUNDS) return result;
  }
}

function together(
  before: ReconcileResult | undefined,
  { behind, fromBlock, toBlock, read, vanished }: RoundResult,
): ReconcileResult {
  return {
    state: behind ? 'behind the chain' : 'up to date',
    fromBlock: Math.min(before?.fromBlock ?? fromBlock, fromBlock),
    toBlock,
    read: (before?.read ?? 0) + read,
    vanished: (before?.vanished ?? 0) + vanished,
  };
}
