import type { ReconciliationException } from './report.ts';

/** Legs of one reason among those that wait. */
export interface WaitingReason {
  readonly reason: ReconciliationException['reason'];
  readonly legs: number;
  readonly micro: bigint;
}

/** An author whose money the chain does not show yet. */
export interface WaitingAuthor {
  /** With its checksum, as reconciliation shows it. */
  readonly wallet: string;
  readonly legs: number;
  readonly micro: bigint;
  readonly oldestAtMs: number;
  /** Why, the most money first. */
  readonly reasons: readonly WaitingReason[];
}

/** Adds exceptions up by author, the most money first. */
export function waitingAuthors(exceptions: readonly ReconciliationException[]): WaitingAuthor[] {
  return [...Map.groupBy(exceptions, ({ toAddress }) => toAddress)]
    .map(([wallet, legs]) => ({
      wallet,
      ...sum(legs),
      oldestAtMs: Math.min(...legs.map(({ recordedAt }) => recordedAt.getTime())),
      reasons: [...Map.groupBy(legs, ({ reason }) => reason)]
        .map(([reason, members]) => ({ reason, ...sum(members) }))
        .sort(mostMoney),
    }))
    .sort((a, b) => mostMoney(a, b) || (a.wallet < b.wallet ? -1 : 1));
}

function sum(legs: readonly ReconciliationException[]): { readonly legs: number; readonly micro: bigint } {
  return { legs: legs.length, micro: legs.reduce((total, { micro }) => total + micro, 0n) };
}

function mostMoney(a: { readonly micro: bigint }, b: { readonly micro: bigint }): number {
  return a.micro === b.micro ? 0 : a.micro > b.micro ? -1 : 1;
}
