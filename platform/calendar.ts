/** The calendar of a time zone, by Temporal and the zones that Node knows. Moments are epoch milliseconds. */
import { Temporal } from 'temporal-polyfill';
import type { NamedWindow, SeriesUnit } from '../modules/kernel/time/series.ts';
import type { Span } from '../modules/kernel/time/window.ts';

const HOUR_MS = 3_600_000;

/**
 * A time zone by its IANA name, as Node spells it; null: there is none of that name. What is computed for a zone is remembered by its
 * name: only names that come from here are asked for, so that callers cannot fill the memory with spellings.
 */
export function zoneNamed(name: string): string | null {
  if (!/^[A-Za-z][A-Za-z0-9_+/-]{0,63}$/.test(name)) return null;
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone;
  } catch {
    return null;
  }
}

/** A moment in ISO 8601 with its offset from UTC, such as 2026-11-01T00:00:00+01:00; null: it is none. Whole milliseconds, rounded down. */
export function momentOf(text: string): number | null {
  try {
    return Temporal.Instant.from(text).epochMilliseconds;
  } catch {
    return null;
  }
}

/** A month such as 2026-10, from its first moment to that of the next; null: it is none, or before 1970. */
export function monthNamed(month: string, zone: string): { readonly fromMs: number; readonly toMs: number } | null {
  if (!/^(?:19[789]|2\d\d)\d-(?:0[1-9]|1[0-2])$/.test(month)) return null;
  const first = Temporal.PlainDate.from(`${month}-01`);
  return { fromMs: startOf(first, zone), toMs: startOf(first.add({ months: 1 }), zone) };
}

/**
 * Where units of a calendar begin inside a span (not at its own beginning), in order; null: at more than `most` moments. Weeks begin on
 * Monday. A day begins at its first moment, whatever a clock shows then. An hour ends where the clock shows the next one, or is changed.
 */
export function bordersWithin(
  { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number },
  unit: SeriesUnit,
  zone: string,
  most: number,
): readonly number[] | null {
  const next = unit === 'hour' ? hoursOf(zone) : (ms: number) => startAfter(ms, unit, zone);
  const borders: number[] = [];
  for (let at = next(fromMs); at < toMs; at = next(at)) {
    if (borders.length === most) return null;
    borders.push(at);
  }
  return borders;
}

function zoned(ms: number, zone: string): Temporal.ZonedDateTime {
  return Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(zone);
}

function startOf(date: Temporal.PlainDate, zone: string): number {
  return date.toZonedDateTime(zone).epochMilliseconds;
}

/** The first moment of the next unit. */
function startAfter(ms: number, unit: Exclude<SeriesUnit, 'hour'>, zone: string): number {
  return startOf(firstDay(zoned(ms, zone).toPlainDate(), unit).add({ [`${unit}s`]: 1 }), zone);
}

function firstDay(date: Temporal.PlainDate, unit: 'day' | 'week' | 'month' | 'year'): Temporal.PlainDate {
  if (unit === 'day') return date;
  if (unit === 'week') return date.subtract({ days: date.dayOfWeek - 1 });
  return date.with(unit === 'month' ? { day: 1 } : { month: 1, day: 1 });
}

/** Steps from hour to hour; the next change of the clock is looked up once it was passed. */
function hoursOf(zone: string): (ms: number) => number {
  let offsetMs = 0;
  let changesAt = Number.NEGATIVE_INFINITY;
  return (ms) => {
    if (ms >= changesAt) {
      const here = zoned(ms, zone);
      offsetMs = here.offsetNanoseconds / 1_000_000;
      changesAt = here.getTimeZoneTransition('next')?.epochMilliseconds ?? Number.POSITIVE_INFINITY;
    }
    const full = (Math.floor((ms + offsetMs) / HOUR_MS) + 1) * HOUR_MS - offsetMs;
    return Math.min(full, changesAt);
  };
}

/** A window with a name, and the one to compare it with. */
export interface CalendarWindow extends Span {
  /** The same stretch a day, week, month or year earlier, as the clock shows it; of the last n days, n days earlier. */
  readonly before: { readonly fromMs: number; readonly toMs: number };
}

const UNITS = {
  today: ['day', 0],
  yesterday: ['day', 1],
  thisWeek: ['week', 0],
  previousWeek: ['week', 1],
  thisMonth: ['month', 0],
  previousMonth: ['month', 1],
  thisYear: ['year', 0],
  previousYear: ['year', 1],
} as const satisfies Partial<Record<NamedWindow, readonly [unit: 'day' | 'week' | 'month' | 'year', back: 0 | 1]>>;

const LAST_DAYS = { last7Days: 7, last28Days: 28, last30Days: 30, last90Days: 90 } as const;

/** The window of a name in a zone; one that holds this moment has no end. Days are calendar days, today being the last. */
export function windowNamed(name: NamedWindow, zone: string, nowMs: number): CalendarWindow {
  const now = zoned(nowMs, zone);
  const today = now.toPlainDate();
  if (name in LAST_DAYS) {
    const days = LAST_DAYS[name as keyof typeof LAST_DAYS];
    return runningSince(today.subtract({ days: days - 1 }), now, { days });
  }
  const [unit, back] = UNITS[name as keyof typeof UNITS];
  const one = { [`${unit}s`]: 1 };
  const first = firstDay(today, unit);
  if (back === 0) return runningSince(first, now, one);
  const begin = first.subtract(one);
  const fromMs = startOf(begin, zone);
  return { fromMs, toMs: startOf(first, zone), before: { fromMs: startOf(begin.subtract(one), zone), toMs: fromMs } };
}

function runningSince(first: Temporal.PlainDate, now: Temporal.ZonedDateTime, back: Temporal.DurationLike): CalendarWindow {
  const fromMs = startOf(first, now.timeZoneId);
  const before = { fromMs: startOf(first.subtract(back), now.timeZoneId), toMs: now.subtract(back).epochMilliseconds };
  return { fromMs, toMs: null, before: { ...before, toMs: Math.min(before.toMs, fromMs) } };
}
