/**
 * Token buckets. A bucket holds so many points and fills at so many a second; a call takes what its kind costs. One number says all of a
 * bucket: the moment from which it is full.
 */

/** How fast a bucket fills and how much it holds, in points. */
export interface Rate {
  readonly perSecond: number;
  readonly burst: number;
}

/** What calls cost, in points. */
export const COSTS = {
  /** Quotes, observations, licence checks, settings. */
  light: 1,
  /** A signature to check, or rows to write or read for somebody who showed no credential. */
  medium: 4,
  /** What takes work in proportion to a site, or of another party: reports, scopes, sign-in, GraphQL. */
  heavy: 10,
  /** An account that nobody vouches for, whose rows stay. */
  account: 50,
  /** A file of a window. */
  file: 20,
  /** A file that is drawn: five times the processor of a report. */
  document: 50,
} as const;

/** How much of a query's computed cost (graphql/limits) is one point. */
const QUERY_COST_OF_A_POINT = 100;

/** What a query of GraphQL costs, in points, by its computed cost; what every call costs where nothing of it ran. */
export function queryPoints(cost: number): number {
  return Math.max(COSTS.heavy, Math.ceil(cost / QUERY_COST_OF_A_POINT));
}

/** Bytes of a page that are one point. */
const PAGE_BYTES_OF_A_POINT = 65_536;

/** What a page's text costs besides, in points, by the bytes that it was read from. */
export function pagePoints(bytes: number): number {
  return Math.ceil(bytes / PAGE_BYTES_OF_A_POINT);
}

/** Bytes of a request's body that are one point. */
const BODY_BYTES_OF_A_POINT = 4_096;

/** What a request's body costs besides, in points, by its bytes; one of less than 4 KiB nothing. */
export function bodyPoints(bytes: number): number {
  return Math.floor(bytes / BODY_BYTES_OF_A_POINT);
}

/** What a call costs, by its name. */
export type Cost = keyof typeof COSTS;

/** What became of a call: when the bucket is full now, and how long the caller must wait when it was refused; 0: it may go on. */
export interface Spent {
  readonly fullAtMs: number;
  readonly waitMs: number;
}

/**
 * Takes points out of a bucket that is full at `fullAtMs`. A call that costs more than a bucket holds empties a full one. Refused, it
 * takes nothing; after `waitMs` the same call is let through, if no other came before it. Times in milliseconds of one clock.
 */
export function spend(fullAtMs: number, cost: number, rate: Rate, nowMs: number): Spent {
  const queued = queue(fullAtMs, cost, rate, nowMs);
  return queued.waitMs > 0 ? { fullAtMs, waitMs: queued.waitMs } : queued;
}

/** Takes points that a bucket need not hold yet: after `waitMs` it would have. Times in milliseconds of one clock. */
export function queue(fullAtMs: number, cost: number, { perSecond, burst }: Rate, nowMs: number): Spent {
  const takenMs = (Math.min(cost, burst) / perSecond) * 1_000;
  const holdsMs = (burst / perSecond) * 1_000;
  const laterMs = Math.max(fullAtMs, nowMs) + takenMs;
  const waitMs = laterMs - nowMs - holdsMs;
  return { fullAtMs: laterMs, waitMs: waitMs > TOLERANCE_MS ? waitMs : 0 };
}

/** When a bucket is full that gets points back. */
export function giveBack(fullAtMs: number, cost: number, { perSecond, burst }: Rate): number {
  return fullAtMs - (Math.min(cost, burst) / perSecond) * 1_000;
}

/** The clock of buckets that are kept by the time of day: where that is set back it goes on from where it was, or they would be full too late. */
export function steadyClock(clock: () => number): () => number {
  let [lastMs, lostMs] = [Number.NEGATIVE_INFINITY, 0];
  return () => {
    const nowMs = clock();
    if (nowMs < lastMs) lostMs += lastMs - nowMs;
    lastMs = nowMs;
    return nowMs + lostMs;
  };
}

/** Sums of fractions of a millisecond since 1970 miss by less than this; no call is refused for it. */
const TOLERANCE_MS = 0.1;
