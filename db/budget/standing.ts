import { SETTLED_STATES, UNDECIDED_STATES } from '../../domain/payment/state.ts';
import { sqlStates, toldWatched } from '../settlement/states.ts';

/**
 * What became of an amount that was counted for the payment `p`, by its alias: `settled` where the money moved as far as we know, `open` while
 * it may still move (undecided, or watched), `released` where it did not and can no longer. What is not released counts against the budget.
 */
export function spendingOutcome(p: string): string {
  return `case when ${p}.state in (${sqlStates(SETTLED_STATES)}) then 'settled'
    when ${p}.state in (${sqlStates(UNDECIDED_STATES)}) or ${toldWatched(p)} then 'open' else 'released' end`;
}
