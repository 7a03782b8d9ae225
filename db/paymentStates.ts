import type { PaymentState } from '../modules/kernel/payment/state.ts';

/** States as a list of SQL constants, for `state in (…)`: a parameter would hide them from the partial indexes of payments. */
export function sqlStates(states: readonly PaymentState[]): string {
  return states.map((state) => `'${state}'`).join(', ');
}

/** True for `p`, a payment by its alias, that is settled in its batch and not final by itself: it is final when its batch is. */
export function isSettledWithBatch(p: string): string {
  return `${p}.state = 'settled' and not ${p}.own_finality`;
}

/** Settled, and no batch makes it final: the condition of an index, for a query of `payment_state` without an alias. */
export const SETTLED_ALONE = "stage = 'settled' and mode = 'live' and own_finality";

/** When the batch of `p`, a payment by its alias, became final and `p` with it: null where it did not, or where `p` is final by itself. */
export function finalWithBatch(p: string): string {
  return `(select batch.final_at from settlement_batch as batch
     where ${isSettledWithBatch(p)} and batch.batch_id = ${p}.batch_id)`;
}

/** The state of `p` as everybody is told it: in its own row a payment that is final with its batch stays `settled`. */
export function toldState(p: string): string {
  return `case when ${finalWithBatch(p)} is null then ${p}.state else 'final' end`;
}

/** When `p` became final, by itself or with its batch: null while it is not. */
export function toldFinalAt(p: string): string {
  return `coalesce(${p}.final_at, ${finalWithBatch(p)})`;
}

/** Whether `p` is watched: nothing is that is final. */
export function toldWatched(p: string): string {
  return `(${p}.watched and ${finalWithBatch(p)} is null)`;
}

/** True for `p` in one of these told states, as constants, which the partial indexes want. */
export function isInStates(p: string, states: readonly PaymentState[]): string {
  const [settled, final] = [states.includes('settled'), states.includes('final')];
  const stored = final && !settled ? [...states, 'settled' as const] : states;
  const isStored = `${p}.stage in (${sqlStages(stored)}) and ${p}.state in (${sqlStates(stored)})`;
  return settled === final ? isStored : `${isStored} and ${toldState(p)} in (${sqlStates(states)})`;
}

/**
 * The stages of states as SQL constants, for `stage in (…)`. A stage is the state, but for the two between which a claim moves a payment: an
 * index by stages is touched by no claim.
 */
export function sqlStages(states: readonly PaymentState[]): string {
  const stages = states.map((state) => (state === 'accepted' || state === 'broadcast' ? 'under_way' : state));
  return [...new Set(stages)].map((stage) => `'${stage}'`).join(', ');
}
