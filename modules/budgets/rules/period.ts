const DAY_MS = 86_400_000;
/** 1 January 1970 was a Thursday. */
const FIRST_MONDAY_MS = 4 * DAY_MS;

/** How long a budget lasts, in UTC; a week begins on Monday. */
export const PERIODS = ['day', 'week', 'month'] as const;
/** One of them. */
export type Period = (typeof PERIODS)[number];

/** A period: from its first moment up to the first of the next, epoch ms. */
export interface PeriodSpan {
  readonly startMs: number;
  readonly endMs: number;
}

/** The period that a moment (epoch ms) is in. */
export function periodOf(period: Period, atMs: number): PeriodSpan {
  if (period === 'month') {
    const at = new Date(atMs);
    const [year, month] = [at.getUTCFullYear(), at.getUTCMonth()];
    return { startMs: Date.UTC(year, month, 1), endMs: Date.UTC(year, month + 1, 1) };
  }
  const [lengthMs, firstMs] = period === 'day' ? [DAY_MS, 0] : [7 * DAY_MS, FIRST_MONDAY_MS];
  const startMs = firstMs + Math.floor((atMs - firstMs) / lengthMs) * lengthMs;
  return { startMs, endMs: startMs + lengthMs };
}
