/** Is the clock of a process right? Expiry is judged by it, so a wrong one refuses honest payments. */

/** What others' clocks say, in seconds ahead of ours; a witness that does not answer is missing. */
export interface ClockWitnesses {
  readonly database: number | null;
  /** Of each network whose head moves: the newest block's time, less what a block may be old. */
  readonly chains: readonly number[];
}

/**
 * From here on a process is not ready. Buyers sign for 300 s and ten of them must be left, so a minute refuses nobody yet who pays at
 * once, and is far more than a clock under NTP is ever wrong.
 */
export const WRONG_CLOCK_SECONDS = 60;

/**
 * True when the database is that far from us and no chain agrees with us: of three clocks the one that stands alone is wrong, and a
 * database whose own clock is wrong must not stop every process at once. A missing database decides nothing here.
 */
export function isClockWrong({ database, chains }: ClockWitnesses): boolean {
  if (database === null || Math.abs(database) <= WRONG_CLOCK_SECONDS) return false;
  return !chains.some((ahead) => Math.abs(ahead) <= WRONG_CLOCK_SECONDS);
}
