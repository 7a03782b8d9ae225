import { listUnfollowed } from '../../../licences/store/notices.ts';
import { readBatchReport } from '../../store/batchOutcome.ts';
import { sweepHeld } from '../../store/held.ts';
import type { PaymentRef } from '../../store/payment.ts';
import { hasUntaken } from '../../store/queue.ts';
import { holdBatch } from '../../store/relayer.ts';
import { hasWork, listUnheldBatches, markSwept } from '../../store/sweep.ts';
import type { SettlementDeps, StartBatch } from '../deps.ts';
import { railSweeps } from '../rails/rails.ts';
import { budgetOf } from './budget.ts';
import { recheckPayees } from './payees.ts';
import { watchAuthorizations, watchSettled } from './watch.ts';

const STALE_AFTER_MS = 2_000;
const PURCHASES = 100;
/** What one step of a sweep may take: none keeps the others from their turn for longer than this. */
const STEP_MS = 10_000;

/** What nobody took, since a process died or Temporal was away. */
export interface Untaken {
  /** Licence purchases that nobody follows. */
  readonly purchases: readonly PaymentRef[];
  /** Payments wait that no worker took: it missed the notification. */
  readonly isUntaken: boolean;
  /** A round over the network would find nothing. */
  readonly isIdle: boolean;
}

/**
 * Finds what a crashed process or an outage left that nobody took, where anything is open at all, which one small query tells: whether payments wait
 * that no worker took (safety 7), and licence purchases that no workflow follows. Again: harmless.
 */
export async function listUntaken(deps: SettlementDeps, networkId: string): Promise<Untaken> {
  const { database } = deps;
  if (!(await hasWork(database, networkId))) return { purchases: [], isUntaken: false, isIdle: true };
  return {
    isUntaken: await hasUntaken(database, networkId, STALE_AFTER_MS),
    purchases: await listUnfollowed(database, networkId, { olderThanMs: STALE_AFTER_MS, limit: PURCHASES }),
    isIdle: false,
  };
}

/**
 * One round over a network (safety 3, 4, 7, 8, 18): batches first, then settled evidence, then watched authorizations and
 * blocked recipients. Each step stands alone and has a budget of time, so that neither an outage nor a flood of one kind of row keeps
 * the others from running. Workers hear of what goes out again with the commit that decides so.
 */
export async function sweepNetwork(deps: SettlementDeps, networkId: string): Promise<void> {
  const budget = () => budgetOf(STEP_MS);
  const steps: readonly (() => Promise<unknown>)[] = [
    ...railSweeps(deps, networkId, budget),
    () => watchSettled(deps, networkId, budget()),
    () => watchAuthorizations(deps, networkId, budget()),
    () => sweepHeld(deps.database, networkId, 100),
    () => recheckPayees(deps, networkId),
  ];
  let hasFailed = false;
  for (const [step, run] of steps.entries()) {
    try {
      await run();
    } catch (error) {
      hasFailed = true;
      deps.log.warn({ networkId, step, error: String(error) }, 'a sweep step failed; it runs again with the next sweep');
    }
  }
  if (!hasFailed) await markSwept(deps.database, networkId);
}

/** Until the first look of a workflow that was just started, which holds its batch for longer; without one the sweeper is back by then. */
const STARTED_MS = 30_000;
/** From the beginning of a sweep until it makes batches final: the steps before that have ten seconds each, and end with what they have begun. */
const UNTIL_FINAL_MS = 30_000;

/**
 * Sweeps a network, and starts a workflow for each batch that none holds, whichever process claimed it: also for those that this sweep ends, so that there is no
 * batch without one. They are listed before it, since nothing tells afterwards that one never had a workflow, and held after it, since the sweeper
 * leaves alone what is held, and a workflow may be stuck. Returns how many it started; again: harmless, since one that runs stays.
 */
export async function sweepAndAdopt(deps: SettlementDeps, networkId: string, start: StartBatch): Promise<number> {
  const left = await listUnheldBatches(deps.database, networkId, UNTIL_FINAL_MS);
  await sweepNetwork(deps, networkId);
  return adoptBatches(deps, left, start);
}

/**
 * Starts the workflows of those batches that nobody holds by now. One that cannot be started keeps no other from its turn: unless it is over, it is
 * tried again with the next sweep, and so are those that are left after ten seconds.
 */
async function adoptBatches(deps: SettlementDeps, batchIds: readonly string[], start: StartBatch): Promise<number> {
  const { database } = deps;
  const budget = budgetOf(STEP_MS);
  let started = 0;
  for (const batchId of batchIds) {
    if (budget.isSpent()) break;
    try {
      const report = await readBatchReport(database, batchId);
      if (!report || report.heldMs > 0) continue;
      const { network, payments, txHash, nonce, isOver } = report;
      if (await start({ network, batchId, payments, sent: { txHash, nonce } })) started += 1;
      if (!isOver) await holdBatch(database, batchId, STARTED_MS, 0);
    } catch (error) {
      deps.log.warn({ batchId, error: String(error) }, 'the workflow of a batch could not be started');
    }
  }
  return started;
}
