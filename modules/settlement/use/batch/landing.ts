import type { SentTransaction } from '../../rules/batchOutcome.ts';
import type { Look } from '../../rules/lookPause.ts';
import { refOf } from '../../store/payment.ts';
import { isRelayed } from '../../store/relayer.ts';
import type { SettlementDeps, StartBatch } from '../deps.ts';
import type { Rail } from '../rails/rails.ts';
import type { Carried, ConfirmOptions } from './confirm.ts';
import type { NewBatch, Sent } from './send.ts';
import { LOOK_MS, stayWith } from './stay.ts';

/** The batches that a process claimed, from the claim's commit on. */
export interface Landings {
  /** Claims a batch, starts its workflow with the claim's commit, and sends it; `landed` resolves when this process has done what it does for it. */
  claim(rail: Rail, under: NewBatch): Promise<{ readonly sent: Sent; readonly landed: Promise<unknown> }>;
  /** What the last look at a batch of this process came to, which may still be under way; null for another's. Never rejects. */
  find(batchId: string): Promise<Look> | null;
  /** Resolves when all have landed, which then leave what is undecided to their workflows. */
  close(): Promise<void>;
}

/** How long the workflow of a batch leaves it to the process that claimed it: it would share the cores with a decision that comes at once. */
const IDLE_MS = 1_000;
/** Landed batches that are remembered, for their workflow, which comes after them. */
const KEPT = 200;

/** Stays with what this process claims until its workflow does, and tells after each look: it may have made room for what waits. */
export function openLandings(deps: SettlementDeps, start: StartBatch, onLook: (networkId: string) => void): Landings {
  const landings = new Map<string, Promise<Look>>();
  const open = new Set<Promise<unknown>>();
  let closed = false;

  const track = (work: Promise<unknown>): void => {
    open.add(work);
    void work.finally(() => open.delete(work));
  };
  /** Starts the workflow of a batch; `isThere` once it stays with it. */
  const begin = (carried: Carried): { readonly isThere: boolean } => {
    const { batchId, network } = carried.batch;
    const workflow = { isThere: false };
    const begun = start(
      { network, batchId, payments: carried.payments.map(refOf), sent: transactionOf(carried) },
      { idleMs: IDLE_MS },
    );
    track(
      begun.then(
        () => {
          workflow.isThere = true;
          deps.crashAt('after_start');
        },
        (error: unknown) => deps.log.warn({ batchId, error: String(error) }, 'a batch goes on without a workflow'),
      ),
    );
    return workflow;
  };
  /** Looks until all is decided, its workflow is there, or the time is up. A look that fails decides nothing. */
  const land = (rail: Rail, carried: Carried, noted: Promise<void>, workflow: { readonly isThere: boolean }) => {
    const { batchId, network } = carried.batch;
    let known: Pick<ConfirmOptions, 'carried'> = { carried };
    let undecided = carried.payments.length;
    const look = async (): Promise<Look> => {
      let isQuick = true;
      try {
        const result = await rail.confirm(deps, batchId, { timeoutMs: LOOK_MS, ...known });
        [undecided, isQuick] = [result.undecided, result.isMined];
      } catch (error) {
        deps.log.warn({ batchId, error: String(error) }, 'a batch could not be looked at; it is looked at again');
      }
      known = {};
      await noted;
      onLook(network);
      return { undecided, isQuick };
    };
    return stayWith(deps, look, () => workflow.isThere || closed);
  };
  const keep = (batchId: string, landing: Promise<Look>): void => {
    landings.set(batchId, landing);
    for (const oldest of landings.keys()) {
      if (landings.size <= KEPT) break;
      landings.delete(oldest);
    }
  };

  return {
    claim: async (rail, under) => {
      const sending = Promise.withResolvers<{ readonly noted: Promise<void> }>();
      let landed: Promise<unknown> = Promise.resolve();
      const onClaimed = (carried: Carried): void => {
        const workflow = begin(carried);
        const landing = sending.promise.then(({ noted }) => land(rail, carried, noted, workflow));
        keep(under.batchId, landing);
        track(landing);
        landed = landing;
      };
      try {
        const sent = await rail.claim(deps, { ...under, onClaimed });
        sending.resolve(sent);
        return { sent, landed };
      } catch (error) {
        sending.resolve({ noted: Promise.resolve() }); // what was claimed is looked at, and its bytes go out again
        throw error;
      }
    },
    find: (batchId) => landings.get(batchId) ?? null,
    close: async () => {
      closed = true;
      while (open.size > 0) await Promise.allSettled(open);
    },
  };
}

function transactionOf({ batch, attempts }: Carried): SentTransaction {
  return { txHash: attempts[0]?.txHash ?? null, nonce: isRelayed(batch) ? batch.nonce.toString() : null };
}
