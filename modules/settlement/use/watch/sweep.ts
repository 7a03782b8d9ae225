import { listUnfollowed } from '../../../licences/store/notices.ts';
import { sweepHeld } from '../../store/held.ts';
import type { PaymentRef } from '../../store/payment.ts';
import { refOf } from '../../store/payment.ts';
import { hasWork, listStaleAccepted, markSwept } from '../../store/sweep.ts';
import { BATCH_LIMIT } from '../batchQueue.ts';
import type { SettlementDeps } from '../deps.ts';
import { railSweeps } from '../rails/rails.ts';
import { budgetOf } from './budget.ts';
import { recheckPayees } from './payees.ts';
import { watchAuthorizations, watchSettled } from './watch.ts';

/** Payments that need a batch: of one network and payer kind each, at most a batch's size. */
export interface SweptBatch {
  readonly network: string;
  readonly payments: readonly PaymentRef[];
}

const STALE_AFTER_MS = 2_000;
/** What one step of a sweep may take: none keeps the others from their turn for longer than this. */
const STEP_MS = 10_000;

/**
 * Finds accepted payments that no live workflow holds (safety 7): what a crashed process or an outage left behind. The
 * caller starts a batch for each list; starting one too many is harmless, since claims decide.
 */
export async function sweepAccepted(deps: SettlementDeps, networkId: string): Promise<readonly SweptBatch[]> {
  const stale = await listStaleAccepted(deps.database, networkId, STALE_AFTER_MS, 10 * BATCH_LIMIT);
  const kinds = Map.groupBy(stale, ({ payerKind }) => payerKind);
  return [...kinds.values()].flatMap((payments) => chunk(networkId, payments.map(refOf)));
}

/** What a crash left without its workflow. */
export interface Ownerless {
  /** Payments that need a batch. */
  readonly batches: readonly SweptBatch[];
  /** Licence purchases that nobody follows. */
  readonly purchases: readonly PaymentRef[];
  /** A round over the network would find nothing. */
  readonly isIdle: boolean;
}

/** The same, and licence purchases that no workflow follows, where anything is open at all, which one small query tells. */
export async function findOwnerless(deps: SettlementDeps, networkId: string): Promise<Ownerless> {
  if (!(await hasWork(deps.database, networkId))) return { batches: [], purchases: [], isIdle: true };
  const purchases = await listUnfollowed(deps.database, networkId, { olderThanMs: STALE_AFTER_MS, limit: BATCH_LIMIT });
  return { batches: await sweepAccepted(deps, networkId), purchases, isIdle: false };
}

/**
 * One round over a network (safety 3, 4, 7, 8, 18): batches first, then settled evidence, then watched authorizations and
 * blocked recipients. Each step stands alone and has a budget of time, so that neither an outage nor a flood of one kind of row keeps
 * the others from running. Returns what needs a batch.
 */
export async function sweepNetwork(deps: SettlementDeps, networkId: string): Promise<readonly SweptBatch[]> {
  const stale = await sweepAccepted(deps, networkId);
  const rest: PaymentRef[] = [];
  const budget = () => budgetOf(STEP_MS);
  const steps = [
    ...railSweeps(deps, networkId, budget),
    () => watchSettled(deps, networkId, budget()),
    () => watchAuthorizations(deps, networkId, budget()),
    () => sweepHeld(deps.database, networkId, 100),
    () => recheckPayees(deps, networkId),
  ];
  let hasFailed = false;
  for (const [step, run] of steps.entries()) {
    try {
      rest.push(...(await run()));
    } catch (error) {
      hasFailed = true;
      deps.log.warn({ networkId, step, error: String(error) }, 'a sweep step failed; it runs again with the next sweep');
    }
  }
  if (!hasFailed) await markSwept(deps.database, networkId);
  const known = new Set(stale.flatMap((batch) => batch.payments.map((payment) => payment.paymentId)));
  const extra = rest.filter((payment) => !known.has(payment.paymentId)).map(refOf);
  return [...stale, ...chunk(networkId, extra)];
}

function chunk(network: string, payments: readonly PaymentRef[]): SweptBatch[] {
  const chunks: SweptBatch[] = [];
  for (let at = 0; at < payments.length; at += BATCH_LIMIT)
    chunks.push({ network, payments: payments.slice(at, at + BATCH_LIMIT) });
  return chunks;
}
