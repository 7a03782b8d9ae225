/**
 * Windows of reports: what was asked, what the plan lets read of it, and how it is put together from
 * whole months, days and hours, and ragged edges. Epoch milliseconds, UTC; `toMs` does not belong to a window.
 */
import type { Plan } from '../access/key.ts';

const DAY_MS = 86_400_000;
/** The latest moment that a caller may name. */
export const MAX_TIME_MS = Date.UTC(9999, 11, 31);

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

/** Days beyond what is kept before anything may go: room for clocks, late reports and reports being read. */
export const MARGIN_DAYS = 35;

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

/** A stretch of time whose sums are added to a window's (1), or taken off them again (-1). */
export interface SignedSpan extends Span {
  readonly sign: 1 | -1;
}

/**
 * The pieces of a window: in months, days, hours and edges each of its moments is added once more than it is taken off, any other moment as
 * often as it is taken off. `whole` is months and days once more, for what stands in days alone.
 */
export interface Pieces {
  /** From the first of a month to the first of a month, or without an end. */
  readonly months: readonly SignedSpan[];
  /** From midnight to midnight, or without an end: half a month at each end of the window, or less. */
  readonly days: readonly SignedSpan[];
  /** The months and days together, from midnight to midnight. */
  readonly whole: readonly SignedSpan[];
  /** From full hour to full hour: half a day at each end, or less; none where days are the smallest. */
  readonly hours: readonly SignedSpan[];
  /** What is read from rows: half of the smallest unit at each end of the window, or less. */
  readonly edges: readonly SignedSpan[];
}

/**
 * Takes a window apart into whole units, from `largest` to `smallest`. An end that lies late in a unit is read as the whole unit less
 * what is left of it, so that nowhere more than half a unit is read in smaller ones.
 */
export function piecesOf(
  window: Span,
  { largest = 'month', smallest = 'day' }: { readonly largest?: 'month' | 'day'; readonly smallest?: 'day' | 'hour' } = {},
): Pieces {
  const all = [{ ...window, sign: 1 as const }];
  const [inHours, edges] = smallest === 'hour' ? takeWhole(all, HOUR) : [all, []];
  const [inDays, around] = takeWhole(inHours, DAY);
  const [months, days] = largest === 'month' ? takeWhole(inDays, MONTH) : [[], inDays];
  const units = { months, days, whole: inDays };
  return smallest === 'hour' ? { ...units, hours: around, edges } : { ...units, hours: [], edges: around };
}

/** The border of a unit of time that is nearest to a moment. */
type Nearest = (ms: number) => number;

const every =
  (unitMs: number): Nearest =>
  (ms) =>
    Math.round(ms / unitMs) * unitMs;
const HOUR = every(DAY_MS / 24);
/** Days, UTC. */
const DAY = every(DAY_MS);

/** Calendar months, UTC. */
const MONTH: Nearest = (ms) => {
  const date = new Date(ms);
  const [first, next] = [0, 1].map((later) => Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + later));
  return ms - (first ?? ms) < (next ?? ms) - ms ? (first ?? ms) : (next ?? ms);
};

/** Splits spans into whole units and what is to be added or taken off around them. */
function takeWhole(spans: readonly SignedSpan[], nearest: Nearest): readonly [SignedSpan[], SignedSpan[]] {
  const whole: SignedSpan[] = [];
  const rest: SignedSpan[] = [];
  for (const span of spans) {
    const { fromMs, toMs, sign } = span;
    const middle = { fromMs: nearest(fromMs), toMs: toMs === null ? null : nearest(toMs), sign };
    const around = [between(fromMs, middle.fromMs, sign), ...(toMs === null ? [] : [between(middle.toMs ?? toMs, toMs, sign)])];
    const isShorter = toMs !== null && around.reduce((sum, { fromMs: from, toMs: to }) => sum + to - from, 0) >= toMs - fromMs;
    if (isEmpty(middle) || isShorter) {
      rest.push(span);
      continue;
    }
    whole.push(middle);
    rest.push(...around);
  }
  return [whole, rest.filter((span) => !isEmpty(span))];
}

/** What is between two moments, taken off where they come in the other order. */
function between(fromMs: number, toMs: number, sign: 1 | -1): SignedSpan & { readonly toMs: number } {
  if (fromMs <= toMs) return { fromMs, toMs, sign };
  return { fromMs: toMs, toMs: fromMs, sign: sign === 1 ? -1 : 1 };
}

/** The last `days` days as whole ones, today and whatever comes after included. */
export function wholeDays(nowMs: number, days: number): Span {
  return { fromMs: Math.floor(nowMs / DAY_MS) * DAY_MS - (days - 1) * DAY_MS, toMs: null };
}
