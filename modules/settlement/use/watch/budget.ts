/** Time that a step of a sweep may take: it stops between rounds once it is spent, and goes on in the next sweep. */
export interface Budget {
  isSpent(): boolean;
}

/** No limit: for callers who sweep everything. */
export const UNBOUNDED: Budget = { isSpent: () => false };

/** A budget of `ms` milliseconds from now on. */
export function budgetOf(ms: number): Budget {
  const until = performance.now() + ms;
  return { isSpent: () => performance.now() >= until };
}
