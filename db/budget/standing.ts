import { spendingState } from '../../domain/budget/decide.ts';
import { PAYMENT_STATES, SETTLED_STATES } from '../../domain/payment/state.ts';
import { sqlStates, toldWatched } from '../settlement/states.ts';

/** States that count no more once nobody can move their money. */
const RELEASED_STATES = PAYMENT_STATES.filter((state) => spendingState({ state, isWatched: false }) === 'released');

/**
 * What became of an amount that was counted for the payment `p`, by its alias: `settled` where the money moved as far as we know, also while
 * it is watched, `open` while it may still move, `released` where the budget counts it no more (`spendingState`, whose rule it is).
 */
export function spendingOutcome(p: string): string {
  return `case when ${p}.state in (${sqlStates(SETTLED_STATES)}) then 'settled'
    when ${p}.state in (${sqlStates(RELEASED_STATES)}) and not ${toldWatched(p)} then 'released' else 'open' end`;
}
