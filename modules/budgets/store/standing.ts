import { sqlStates, toldWatched } from '../../../db/paymentStates.ts';
import { PAYMENT_STATES, SETTLED_STATES } from '../../kernel/payment/state.ts';
import type { SpendingState } from '../rules/decide.ts';
import { spendingState } from '../rules/decide.ts';

/** True for `p`, a payment by its alias, that is one of these to a budget, by the very rule of budgets (`spendingState`). */
function isOf(p: string, wanted: readonly SpendingState[]): string {
  const parts = [false, true].flatMap((isWatched) => {
    const states = PAYMENT_STATES.filter((state) => wanted.includes(spendingState({ state, isWatched })));
    return states.length === 0 ? [] : [`${p}.state in (${sqlStates(states)}) and ${isWatched ? '' : 'not '}${toldWatched(p)}`];
  });
  return `(${['false', ...parts].join(' or ')})`;
}

/** True for `p` that moved nothing and can no longer: no budget counts it. */
export function isReleased(p: string): string {
  return isOf(p, ['released']);
}

/** True for `p` that counts for good or no more. */
export function isDecided(p: string): string {
  return isOf(p, ['spent', 'released']);
}

/**
 * What became of an amount that was counted for the payment `p`, by its alias: `settled` where the money moved as far as we know, also while
 * it is watched, `open` while it may still move, `released` where the budget counts it no more.
 */
export function spendingOutcome(p: string): string {
  return `case when ${p}.state in (${sqlStates(SETTLED_STATES)}) then 'settled' when ${isReleased(p)} then 'released' else 'open' end`;
}
