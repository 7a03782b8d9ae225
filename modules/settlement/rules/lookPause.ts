const FIRST_MS = 100;
const LONGEST_MS = 5_000;

/** What a look at a batch with open payments came to. */
export interface Look {
  /** Payments that it left undecided. */
  readonly undecided: number;
  /** It ended at once instead of waiting for a receipt: that is there, or the look failed. */
  readonly isQuick: boolean;
}

/**
 * How long to pause after a look at a batch, milliseconds, given the look before (null: it was the first) and the pause that followed it. The pause
 * doubles, up to 5 seconds, while looks end at once and decide nothing more: only later blocks or another node can. Pure.
 */
export function lookPauseMs(look: Look, before: Look | null, pausedMs: number): number {
  const isStill = before?.isQuick === true && look.isQuick && look.undecided === before.undecided;
  return isStill ? Math.min(2 * pausedMs, LONGEST_MS) : FIRST_MS;
}
