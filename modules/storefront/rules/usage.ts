/** Use as buyers report it themselves: what is taken from whom, and how much of it. It is no money, and nobody checked it. */
import { ServiceError } from '../../kernel/errors.ts';
import type { LicenceTerm } from '../../kernel/licence/period.ts';

/** Most uses of one report. */
export const MAX_COUNT = 1_000_000;
/** Longest id a reporter may give a report, in characters. */
export const MAX_IDEMPOTENCY_CHARS = 128;
/**
 * Reports taken a day (UTC) of what was bought. A page costs as little as the lowest price, so what it lets write is little, too; a
 * licence over many pages may be used on each of them. More uses stand in `count`.
 */
export const REPORTS_A_DAY = { page: 50, licence: 1_000 } as const;

const DAY_MS = 86_400_000;
/** How late a use may be told, and how far ahead of ours a clock may be. */
const LATE_MS = 7 * DAY_MS;
const AHEAD_MS = 5 * 60_000;

/** The moment of a use, epoch milliseconds; left out: now. Throws invalid_parameter (400): more than a week ago, or to come. */
export function useMoment(at: number | undefined, nowMs: number): number {
  const atMs = at ?? nowMs;
  if (atMs < nowMs - LATE_MS || atMs > nowMs + AHEAD_MS) {
    throw new ServiceError('invalid_parameter', 'at must be within the last seven days', { parameter: 'at' });
  }
  return atMs;
}

/** Whether what was bought allows a use; null where it says nothing about uses. `all` allows each of them. */
export function isWithinTerms(use: LicenceTerm, terms: readonly string[] | null): boolean | null {
  return terms === null ? null : terms.includes('all') || terms.includes(use);
}

/** The day (UTC) of a moment, as reports are counted by, and the whole seconds until it ends. */
export function countedDay(nowMs: number): { readonly day: string; readonly endsInSeconds: number } {
  const startMs = Math.floor(nowMs / DAY_MS) * DAY_MS;
  return { day: new Date(startMs).toISOString().slice(0, 10), endsInSeconds: Math.ceil((startMs + DAY_MS - nowMs) / 1_000) };
}
