import { setTimeout as sleep } from 'node:timers/promises';
import { blockNumbers } from '../../../../platform/chain/evidence/receipts.ts';
import { whereAway } from '../../../../platform/chain/rpc/rpc.ts';
import { remembered } from '../../../../platform/pacing/remembered.ts';
import type { BatchSums } from '../../rules/batchOutcome.ts';
import type { SafeLag } from '../../rules/finality.ts';
import { blindWaitMs, safeWaitMs } from '../../rules/finality.ts';
import type { BatchReport } from '../../store/batchOutcome.ts';
import { readBatchReport } from '../../store/batchOutcome.ts';
import type { Batch } from '../../store/relayer.ts';
import { holdBatch } from '../../store/relayer.ts';
import type { SettlementDeps } from '../deps.ts';

/** How a batch stands. */
export interface BatchStanding extends BatchSums {
  /** The safe block has decided, and nothing of it is left to do. */
  readonly isOver: boolean;
  /** When to look again, once nothing of it is open, milliseconds from now. */
  readonly nextInMs: number;
}

/** How batches stand, for the workflows that hold them. */
export interface Standings {
  /** Holds a batch through one look, however long that takes or fails, and the pause of its workflow before the next try; null: it has no row. */
  hold(batchId: string): Promise<Batch | null>;
  /** How a batch stands now, by its rows; holds it for a minute after its next look, at least. Null: it has no row. */
  of(batchId: string): Promise<BatchStanding | null>;
}

/** A workflow that is so late holds its batch no longer: its worker died, or Temporal is away. */
const LATE_MS = 60_000;
/** Of a look and of the pause after one that failed (`workflows/settlePayments`), together and with ten seconds to spare. */
const LOOK_MS = 100_000;
/** For so long a distance of the safe block is remembered, and that no node told it: it says when to look, and decides nothing. */
const REMEMBERED_MS = 30_000;
/** For so long it is waited for: a first look at a receipt, which asks for it, has three seconds. */
const ASKED_MS = 500;

/**
 * Tells how batches stand; asks a network for its safe block no more than twice a minute, whether nodes answer or not, however many batches wait.
 */
export function openStandings(deps: SettlementDeps): Standings {
  const lags = new Map(
    deps.networks.list.map(({ id, blockTimeMs }) => [
      id,
      remembered(async (): Promise<SafeLag> => ({ ...(await blockNumbers(deps.rpcOf(id))), blockTimeMs }), REMEMBERED_MS),
    ]),
  );
  const waitOf = async ({ network, blockNumber, ageMs }: BatchReport): Promise<number> => {
    const told = lags.get(network)?.().catch(whereAway(null));
    const lag = await Promise.race([told, sleep(ASKED_MS, null, { ref: false })]);
    if (lag) return safeWaitMs(blockNumber ?? lag.latest, lag);
    const waitMs = blindWaitMs(ageMs);
    deps.log.warn({ network, waitMs }, 'the safe block could not be read; the batch is looked at later');
    return waitMs;
  };
  return {
    hold: (batchId) => holdBatch(deps.database, batchId, LOOK_MS),
    of: async (batchId) => {
      const report = await readBatchReport(deps.database, batchId);
      if (!report) return null;
      const { outcome, open, unsettled, isOver, heldMs } = report;
      const nextInMs = isOver || open > 0 ? 0 : await waitOf(report);
      const leastMs = nextInMs + LATE_MS;
      if (!isOver && heldMs < leastMs) await holdBatch(deps.database, batchId, leastMs);
      return { outcome, open, ...(unsettled && { unsettled }), isOver, nextInMs };
    },
  };
}
