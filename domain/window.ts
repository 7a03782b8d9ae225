/**
 * Windows of reports: what was asked, what the plan lets read of it, and how it is put together from
 * whole months, days and hours, and ragged edges. Epoch milliseconds, UTC; `toMs` does not belong to a window.
 */
import type { Plan } from './access.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** A stretch of time; `toMs` null: no end. */
export interface Span {
  readonly fromMs: number;
  readonly toMs: number | null;
}

/** A window as a caller may read it; `clampedToMs` is where the plan's retention begins, when that cut something off. */
export interface ReadableWindow extends Span {
  readonly clampedToMs: number | null;
}

/** How far back each plan reads, in days. Rows of money are never dropped; this limits reading alone. */
const RETENTION_DAYS = { free: 7, starter: 30, studio: 400, scale: 3 * 365, enterprise: 7 * 365 } as const satisfies Record<
  Plan,
  number
>;

/** How far back the longest plan reads, in days: observations are kept as long, whatever plans are in use now (safety 22). */
export const KEPT_DAYS = Math.max(...Object.values(RETENTION_DAYS));

/** The part of a window that a plan lets read; no start asks for everything, and is cut where retention begins. */
export function readableWindow(
  asked: { readonly fromMs: number | null; readonly toMs: number | null },
  plan: Plan | null,
  nowMs: number,
): ReadableWindow {
  const floorMs = nowMs - RETENTION_DAYS[plan ?? 'free'] * DAY_MS;
  const isCut = asked.fromMs === null || asked.fromMs < floorMs;
  const fromMs = isCut ? floorMs : asked.fromMs;
  return {
    fromMs: asked.toMs === null ? fromMs : Math.min(fromMs, asked.toMs),
    toMs: asked.toMs,
    clampedToMs: isCut ? floorMs : null,
  };
}

/**
 * The window of the same length right before, as far as the plan lets read: nothing of it is left
 * when the window itself was cut.
 */
export function previousWindow(window: Span, plan: Plan | null, nowMs: number): ReadableWindow {
  const lengthMs = Math.max(0, (window.toMs ?? nowMs) - window.fromMs);
  return readableWindow({ fromMs: window.fromMs - lengthMs, toMs: window.fromMs }, plan, nowMs);
}

/** True when no moment belongs to the span. */
export function isEmpty(span: Span): boolean {
  return span.toMs !== null && span.toMs <= span.fromMs;
}

/** The pieces of a window; they do not overlap and together are the window. */
export interface Pieces {
  /** From the first of a month to the first of a month, or without an end. */
  readonly months: readonly Span[];
  /** From midnight to midnight, or without an end, outside the months. */
  readonly days: readonly Span[];
  /** From full hour to full hour, outside the days. */
  readonly hours: readonly Span[];
  /** What is left at both ends, less than an hour each. */
  readonly edges: readonly Span[];
}

/** Most spans a window has of each kind. */
export const MOST_PIECES = { months: 1, days: 2, hours: 2, edges: 2 } as const satisfies Record<keyof Pieces, number>;

/** Takes a window apart into the largest whole units, `largest` at most. */
export function piecesOf(window: Span, largest: 'month' | 'day' = 'month'): Pieces {
  const [months, aroundMonths] = largest === 'month' ? takeWhole([window], MONTH) : [[], [window]];
  const [days, aroundDays] = takeWhole(aroundMonths, unitOf(DAY_MS));
  const [hours, edges] = takeWhole(aroundDays, unitOf(HOUR_MS));
  return { months, days, hours, edges };
}

/** A unit of time by its borders. */
interface Unit {
  /** The last border that is not after a moment. */
  floor(ms: number): number;
  /** The first border that is not before a moment. */
  ceil(ms: number): number;
}

function unitOf(lengthMs: number): Unit {
  return { floor: (ms) => Math.floor(ms / lengthMs) * lengthMs, ceil: (ms) => Math.ceil(ms / lengthMs) * lengthMs };
}

/** Calendar months, UTC. */
const MONTH: Unit = {
  floor: (ms) => firstOfMonth(ms, 0),
  ceil: (ms) => (firstOfMonth(ms, 0) === ms ? ms : firstOfMonth(ms, 1)),
};

function firstOfMonth(ms: number, later: number): number {
  const date = new Date(ms);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + later);
}

/** Splits spans into whole units and what is left around them. */
function takeWhole(spans: readonly Span[], unit: Unit): readonly [Span[], Span[]] {
  const whole: Span[] = [];
  const rest: Span[] = [];
  for (const span of spans) {
    const middle = { fromMs: unit.ceil(span.fromMs), toMs: span.toMs === null ? null : unit.floor(span.toMs) };
    if (isEmpty(middle)) {
      rest.push(span);
      continue;
    }
    whole.push(middle);
    rest.push({ fromMs: span.fromMs, toMs: middle.fromMs });
    if (span.toMs !== null) rest.push({ fromMs: middle.toMs ?? 0, toMs: span.toMs });
  }
  return [whole, rest.filter((span) => !isEmpty(span))];
}

/** The last `days` days as whole ones, today and whatever comes after included. */
export function wholeDays(nowMs: number, days: number): Span {
  return { fromMs: Math.floor(nowMs / DAY_MS) * DAY_MS - (days - 1) * DAY_MS, toMs: null };
}
