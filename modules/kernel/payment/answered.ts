/**
 * What became of requests that were told a price. x402 asks first and pays then, so that a sale at a gate is two observations: `denied` (the 402),
 * and `paid`. The second answers the first. A sale at a door of this service has no first: no gate observed its 402, and it answers none.
 */

/** The reason of a `paid` observation before which no gate observed a 402. */
export const WITHOUT_402 = 'without_402';

/** Net sums of observations that are alike; micro-USDC. */
export interface ObservedSum {
  readonly verdict: string;
  readonly reason: string;
  readonly hits: number;
  readonly micro: bigint;
}

/** How many 402s were answered with a payment, and what is missed: net sums. */
export interface Answered {
  /** Paid requests that a 402 came before. It adds up over windows; at the edge of one it can be more than was denied in it. */
  readonly answered: number;
  /** Denied requests that no payment answered; never below 0. */
  readonly unanswered: number;
  /** What those would have paid, and what blocked requests would have; the denied part is never below 0. */
  readonly unansweredMicro: bigint;
  /** Which part of the denied was answered, 0 … 1; null when none was denied. */
  readonly conversion: number | null;
}

/** True of sums of sales that answer a 402. */
export function answers({ verdict, reason }: Pick<ObservedSum, 'verdict' | 'reason'>): boolean {
  return verdict === 'paid' && reason !== WITHOUT_402;
}

/** Takes the sales that answer a 402 off what was denied. Pure. */
export function answeredOf(rows: readonly ObservedSum[]): Answered {
  const answering = rows.filter(answers);
  const of = (verdict: string) => rows.filter((row) => row.verdict === verdict);
  const answered = hitsOf(answering);
  const denied = hitsOf(of('denied'));
  const deniedMicro = microOf(of('denied')) - microOf(answering);
  return {
    answered,
    unanswered: Math.max(0, denied - answered),
    unansweredMicro: (deniedMicro > 0n ? deniedMicro : 0n) + microOf(of('blocked')),
    conversion: conversionOf(denied, answered),
  };
}

/** Which part of the denied was answered, 0 … 1; null when none was denied. */
export function conversionOf(denied: number, answered: number): number | null {
  return denied > 0 ? Math.min(1, Math.max(0, answered) / denied) : null;
}

function hitsOf(rows: readonly ObservedSum[]): number {
  return rows.reduce((sum, row) => sum + row.hits, 0);
}

function microOf(rows: readonly ObservedSum[]): bigint {
  return rows.reduce((sum, row) => sum + row.micro, 0n);
}
