/** What a price would have brought: requests that were counted, taken at another price. */
import type { Answered } from '../../kernel/payment/answered.ts';
import { answeredOf } from '../../kernel/payment/answered.ts';
import type { CrossingKind } from '../../kernel/terms.ts';

/** Requests for pages of one kind that came to the same; a gate that named no kind means reads. */
export interface AskedFor {
  readonly verdict: string;
  /** Of a paid one, whether a 402 came before (`WITHOUT_402`). */
  readonly reason: string;
  readonly kind: string;
  readonly hits: number;
  /** What they paid, or would have. */
  readonly micro: bigint;
}

/** What was asked for, as it was and at a price; micro-USDC. */
export interface WhatIfSums extends Answered {
  readonly paid: number;
  readonly denied: number;
  readonly blocked: number;
  readonly earnedMicro: bigint;
  readonly missedMicro: bigint;
  /** Those that were paid, each at the price. */
  readonly ifPaidMicro: bigint;
  /** Those that were denied and have not paid since, had every one of them paid the price. */
  readonly ifDeniedMicro: bigint;
  /** The same of those that the owner's own policy blocks. */
  readonly ifBlockedMicro: bigint;
}

/** Adds up what was asked for, as it was and at these prices. Nothing is guessed: nobody comes or goes because of the price. */
export function atPrices(rows: readonly AskedFor[], prices: Readonly<Record<CrossingKind, bigint>>): WhatIfSums {
  const of = (...verdicts: string[]): readonly AskedFor[] => rows.filter(({ verdict }) => verdicts.includes(verdict));
  const hits = (verdict: string): number => of(verdict).reduce((sum, row) => sum + row.hits, 0);
  const micro = (...verdicts: string[]): bigint => of(...verdicts).reduce((sum, row) => sum + row.micro, 0n);
  const kinds = Map.groupBy(rows, ({ kind }): CrossingKind => (kind === 'citation' ? 'citation' : 'read'));
  const pricedBy = (count: (ofKind: readonly AskedFor[]) => number): bigint =>
    [...kinds].reduce((sum, [kind, ofKind]) => sum + BigInt(count(ofKind)) * prices[kind], 0n);
  const priced = (verdict: string): bigint =>
    pricedBy((ofKind) => ofKind.reduce((sum, row) => (row.verdict === verdict ? sum + row.hits : sum), 0));
  return {
    paid: hits('paid'),
    denied: hits('denied'),
    ...answeredOf(rows),
    blocked: hits('blocked'),
    earnedMicro: micro('paid'),
    missedMicro: micro('denied', 'blocked'),
    ifPaidMicro: priced('paid'),
    ifDeniedMicro: pricedBy((ofKind) => answeredOf(ofKind).unanswered),
    ifBlockedMicro: priced('blocked'),
  };
}
