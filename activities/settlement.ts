import { ApplicationFailure, cancellationSignal, heartbeat } from '@temporalio/activity';
import type { Flights } from '../modules/settlement/use/batch/flights.ts';
import type { BatchStanding } from '../modules/settlement/use/batch/report.ts';
import { openStandings } from '../modules/settlement/use/batch/report.ts';
import { LOOK_MS, stayWith } from '../modules/settlement/use/batch/stay.ts';
import type { SettlementDeps, StartBatch } from '../modules/settlement/use/deps.ts';
import { confirmCarried } from '../modules/settlement/use/rails/rails.ts';
import { flushSplits } from '../modules/settlement/use/relayer/flush.ts';
import type { Untaken } from '../modules/settlement/use/watch/sweep.ts';
import { listUntaken, sweepAndAdopt } from '../modules/settlement/use/watch/sweep.ts';
import { finishBatch } from '../modules/settlement/use/watch/watch.ts';
import { beating } from './beating.ts';

/**
 * The activities of settlement: each unpacks, calls a use of the module, and leaves retries to the workflow. A batch without a row, as after a restore of
 * the ledger, fails its workflow (`BatchMissing`).
 */
export interface SettlementActivities {
  /** Looks for the batch's receipt for at most 2.2 seconds, sends its bytes again where there is none, and records what is decided; local (safety 20). */
  confirmSettlement(input: { readonly batchId: string }): Promise<BatchStanding>;
  /** Stays with a batch until all of it is decided; heart-beating, at most 5 minutes. */
  awaitSettlement(input: { readonly batchId: string }): Promise<BatchStanding>;
  /** One look at a decided batch: over at the safe block, sent again where a reorganisation took it; local. */
  finishSettlement(input: { readonly batchId: string }): Promise<BatchStanding>;
  /** Wakes this worker for payments that none took, and finds licence purchases that nobody follows; quick, whatever else there is to sweep. */
  findUntaken(input: { readonly network: string }): Promise<Untaken>;
  /** One round over everything that no live workflow holds; returns how many batches it gave their workflow. */
  sweepPayments(input: { readonly network: string }): Promise<number>;
  /** Pays out splits that hold money. */
  flushSplits(input: { readonly network: string }): Promise<number>;
}

const HEARTBEAT_MS = 5_000;
/** Looks after which a batch is held again, for longer than they take. */
const HELD_LOOKS = 10;

/** The activities over one set of dependencies; `flights` are the batches that this process sends, `start` gives others their workflow. */
export function createSettlementActivities(
  deps: SettlementDeps,
  flights: Pick<Flights, 'find' | 'wake'>,
  start: StartBatch,
): SettlementActivities {
  const standings = openStandings(deps);
  const standingOf = async (batchId: string): Promise<BatchStanding> => {
    const standing = await standings.of(batchId);
    if (standing === null) throw ApplicationFailure.nonRetryable(`the ledger has no batch ${batchId}`, 'BatchMissing');
    return standing;
  };
  return {
    confirmSettlement: async ({ batchId }) => {
      // A batch that is being confirmed here, or was by another, is not looked at twice.
      const flight = flights.find(batchId);
      if (flight === null) {
        const standing = await standingOf(batchId);
        if (standing.open === 0) return standing;
      }
      await (flight ?? confirmCarried(deps, batchId, { timeoutMs: LOOK_MS }));
      return standingOf(batchId);
    },
    awaitSettlement: async ({ batchId }) => {
      const signal = cancellationSignal();
      const look = async (before: number) => {
        heartbeat();
        if (before % HELD_LOOKS === 0) await standings.hold(batchId);
        const { undecided, isMined } = await confirmCarried(deps, batchId, { timeoutMs: LOOK_MS, signal });
        heartbeat();
        return { undecided, isQuick: isMined };
      };
      await stayWith(deps, look, () => signal.aborted);
      return standingOf(batchId);
    },
    finishSettlement: async ({ batchId }) => {
      const batch = await standings.hold(batchId); // before the look, which an outage of the chain may fail again and again
      if (batch !== null) await finishBatch(deps, batch);
      return standingOf(batchId);
    },
    findUntaken: async ({ network }) => {
      const found = await listUntaken(deps, network);
      if (found.isUntaken) flights.wake(network);
      return found;
    },
    sweepPayments: ({ network }) => beating(HEARTBEAT_MS, () => sweepAndAdopt(deps, network, start)),
    flushSplits: ({ network }) => beating(HEARTBEAT_MS, () => flushOrWarn(deps, network)),
  };
}

/** An outage here must not hold up the sweeper's next round: splits are looked at again. */
async function flushOrWarn(deps: SettlementDeps, network: string): Promise<number> {
  try {
    return await flushSplits(deps, network);
  } catch (error) {
    deps.log.warn({ network, error: String(error) }, 'splits could not be looked at; the next round does');
    return 0;
  }
}
