/** When what is sent to somebody else is tried again: webhooks, alerts of budgets, and e-mails. All times in ms. */

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;

/** The wait before attempts 1 … 8: 0, 5 s, 5 min, 30 min, 2 h, 5 h, 10 h, 10 h. */
export const ATTEMPT_DELAYS_MS: readonly number[] = [
  0,
  5 * SECOND_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  5 * HOUR_MS,
  10 * HOUR_MS,
  10 * HOUR_MS,
];
const MAX_RETRY_AFTER_MS = 10 * HOUR_MS;
const JITTER = 0.1;

/** The wait before attempt number `attempt` (from 1), jitter and floor applied; null when there is no such attempt. */
export function delayBefore(attempt: number, jitter: number, floorMs: number): number | null {
  const baseMs = ATTEMPT_DELAYS_MS[attempt - 1];
  if (baseMs === undefined) return null;
  return Math.max(Math.round(baseMs * (1 - JITTER + 2 * JITTER * jitter)), Math.min(floorMs, MAX_RETRY_AFTER_MS));
}
