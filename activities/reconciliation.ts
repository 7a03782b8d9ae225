import { correctFlushed } from '../modules/reconciliation/use/corrections.ts';
import type { ReconcileDeps } from '../modules/reconciliation/use/deps.ts';
import type { RoundResult } from '../modules/reconciliation/use/readChain.ts';
import { readChain } from '../modules/reconciliation/use/readChain.ts';
import { beating } from './beating.ts';

/** The activities of the reconciler; retries are the workflow's. */
export interface ReconcileActivities {
  /** Reads one range of blocks as evidence and corrects legs that a flush rounded otherwise; heart-beating. */
  reconcileRound(input: { readonly network: string }): Promise<RoundResult>;
}

const HEARTBEAT_MS = 5_000;

/** The activities over one set of dependencies. */
export function createReconcileActivities(deps: ReconcileDeps): ReconcileActivities {
  return {
    reconcileRound: ({ network }) =>
      beating(HEARTBEAT_MS, async () => {
        const result = await readChain(deps, network);
        await correctFlushed(deps, network);
        return result;
      }),
  };
}
