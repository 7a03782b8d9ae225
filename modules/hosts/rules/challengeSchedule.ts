/** When a host is checked without being asked. All in milliseconds. */
import type { Challenge } from './challenge.ts';
import { isExpired, TOKEN_LIFE_MS } from './challenge.ts';

/** The schedule; tests run it faster. */
export interface HostTimes {
  /** From opening to the first automatic check, then from each to the next; the last one repeats. */
  readonly openGapsMs: readonly number[];
  /** Between rechecks of a verified host. */
  readonly recheckMs: number;
  /** After the first failed recheck: when it is confirmed. Ownership lapses with the last one. */
  readonly confirmAfterMs: readonly number[];
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** The schedule in production. */
export const HOST_TIMES: HostTimes = {
  openGapsMs: [1, 2, 5, 10, 30, 60, 180, 360, 720, 1_440].map((minutes) => minutes * MINUTE_MS),
  recheckMs: 24 * HOUR_MS,
  confirmAfterMs: [5_000, HOUR_MS, 24 * HOUR_MS, 72 * HOUR_MS],
};

/** When an open challenge that was checked `scheduledChecks` times by itself is checked next, counted from now. */
export function nextOpenCheckMs(scheduledChecks: number, times: HostTimes): number {
  const { openGapsMs } = times;
  return openGapsMs[Math.min(scheduledChecks, openGapsMs.length - 1)] ?? HOUR_MS;
}

/** How long from now until a challenge needs attention; null when it needs none any more: gone, or its token died unproven. */
export function delayOf(challenge: Challenge | null, nowMs: number): number | null {
  if (!challenge || isExpired(challenge, nowMs)) return null;
  const dueMs = challenge.nextCheckAtMs ?? nowMs;
  const lastMs = challenge.state === 'open' ? challenge.tokenIssuedAtMs + TOKEN_LIFE_MS : dueMs;
  return Math.max(0, Math.min(dueMs, lastMs) - nowMs);
}

/** What a failed recheck of a verified host means. */
export type RecheckFailure =
  | { readonly kind: 'lapse' }
  | {
      readonly kind: 'failing';
      readonly failingSinceMs: number;
      readonly confirmations: number;
      readonly nextCheckAtMs: number;
      /** The owner hears of it once: when the first confirmation failed too. */
      readonly isAlert: boolean;
    };

/** Judges a failed recheck: the first starts the grace period, each later one confirms it, the last one ends it. */
export function judgeRecheckFailure(
  challenge: Pick<Challenge, 'failingSinceMs' | 'confirmations'>,
  nowMs: number,
  times: HostTimes,
): RecheckFailure {
  const failingSinceMs = challenge.failingSinceMs ?? nowMs;
  const confirmations = challenge.failingSinceMs === null ? 0 : challenge.confirmations + 1;
  const afterMs = times.confirmAfterMs[confirmations];
  if (afterMs === undefined) return { kind: 'lapse' };
  const nextCheckAtMs = Math.max(nowMs, failingSinceMs + afterMs);
  return { kind: 'failing', failingSinceMs, confirmations, nextCheckAtMs, isAlert: confirmations === 1 };
}
