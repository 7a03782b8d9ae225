const FIRST_MS = 100;
const LONGEST_MS = 5_000;

/** What a look at a batch with open payments came to. */
export interface Look {
  /** Payments that it left undecided. */
  readonly undecided: number;
  /** Its receipt was there, so that the look ended at once instead of waiting for it. */
  readonly isMined: boolean;
}

/**
 * How long to pause after a look at a batch, milliseconds, given the look before (null: it was the first) and the pause that followed it. The pause
 * doubles, up to 5 seconds, while the receipt is there and decides nothing more: only later blocks or another node can. Pure.
 */
export function lookPauseMs(look: Look, before: Look | null, pausedMs: number): number {
  const isStill = before?.isMined === true && look.isMined && look.undecided === before.undecided;
  return isStill ? Math.min(2 * pausedMs, LONGEST_MS) : FIRST_MS;
}
