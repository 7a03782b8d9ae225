import type { PaymentState } from '../../kernel/payment/state.ts';
import { isSettled, isUndecided } from '../../kernel/payment/state.ts';
import type { Period } from './period.ts';

/** What an account may spend; amounts in micro-USDC, null: no such limit. */
export interface Budget {
  readonly period: Period;
  readonly totalMicro: bigint;
  /** At one host in a period. */
  readonly hostMicro: bigint | null;
  /** The most that one page may cost; licences are no pages. */
  readonly pageMicro: bigint | null;
  /** What costs more waits for the owner's word. */
  readonly approveAboveMicro: bigint | null;
  /** True: nothing may be bought. */
  readonly isStopped: boolean;
}

/** What counts in the period of now, micro-USDC. */
export interface Spent {
  readonly totalMicro: bigint;
  readonly hostMicro: bigint;
}

/** A payment that somebody wants to make for an account. */
export interface SpendingAsk {
  readonly amountMicro: bigint;
  readonly purpose: 'page' | 'licence';
  /** True when the owner said yes to this purchase at this amount, and nothing was paid on it yet. */
  readonly isApproved: boolean;
}

/** Which limit is in the way. */
export type Limit = 'stopped' | 'page' | 'total' | 'host';

/** Whether a payment may be made, or what is in its way. */
export type SpendingDecision =
  | { readonly kind: 'may' }
  | { readonly kind: 'exceeded'; readonly limit: Limit; readonly limitMicro: bigint; readonly spentMicro: bigint }
  | { readonly kind: 'ask_owner'; readonly aboveMicro: bigint };

/** Decides about one payment, with everything that counts before it. What no limit lets through is refused before anybody is asked. */
export function decideSpending(budget: Budget | null, spent: Spent, ask: SpendingAsk): SpendingDecision {
  if (!budget) return { kind: 'may' };
  const { amountMicro } = ask;
  const exceeded = (limit: Limit, limitMicro: bigint, spentMicro: bigint): SpendingDecision => ({
    kind: 'exceeded',
    limit,
    limitMicro,
    spentMicro,
  });
  if (budget.isStopped) return exceeded('stopped', 0n, spent.totalMicro);
  if (ask.purpose === 'page' && budget.pageMicro !== null && amountMicro > budget.pageMicro) {
    return exceeded('page', budget.pageMicro, 0n);
  }
  if (spent.totalMicro + amountMicro > budget.totalMicro) return exceeded('total', budget.totalMicro, spent.totalMicro);
  if (budget.hostMicro !== null && spent.hostMicro + amountMicro > budget.hostMicro) {
    return exceeded('host', budget.hostMicro, spent.hostMicro);
  }
  const above = budget.approveAboveMicro;
  if (above !== null && amountMicro > above && !ask.isApproved) return { kind: 'ask_owner', aboveMicro: above };
  return { kind: 'may' };
}

/** Whether a payment counts for good, no more, or may still go either way. */
export type SpendingState = 'open' | 'spent' | 'released';

/**
 * What a payment is to a budget. One that is watched may still move (safety 3, 14): it failed or was superseded here, and its authorization
 * can be submitted by anybody, so that it counts until it cannot.
 */
export function spendingState(payment: { readonly state: PaymentState; readonly isWatched: boolean }): SpendingState {
  if (payment.isWatched || isUndecided(payment.state)) return 'open';
  return isSettled(payment.state) ? 'spent' : 'released';
}
