import type { CalendarWindow } from '../../../platform/calendar.ts';
import { bordersWithin, momentOf, windowNamed, zoneNamed } from '../../../platform/calendar.ts';
import { ServiceError } from '../../kernel/errors.ts';
import type { NamedWindow, SeriesUnit } from '../../kernel/time/series.ts';
import { MAX_BUCKETS } from '../../kernel/time/series.ts';
import type { Span } from '../../kernel/time/window.ts';
import { isEmpty } from '../../kernel/time/window.ts';

/** A series as asked for; `timeZone` is an IANA name. */
export interface AskedSeries {
  readonly every: SeriesUnit;
  readonly timeZone: string;
}

/** The time zone of a name, UTC without one. Throws invalid_parameter. */
export function zoneOf(name: string | null | undefined): string {
  const zone = zoneNamed(name ?? 'UTC');
  if (zone !== null) return zone;
  throw new ServiceError('invalid_parameter', 'timeZone: not a time zone; use an IANA name such as Europe/Berlin', {
    parameter: 'timeZone',
  });
}

/** A moment written in ISO 8601 with its offset from UTC, in epoch milliseconds; null for any other text. */
export function momentFrom(text: string): number | null {
  return momentOf(text);
}

/** The window of a name. Throws invalid_parameter for a zone that does not exist. */
export function calendarWindow(name: NamedWindow, timeZone: string | null | undefined, nowMs: number): CalendarWindow {
  return windowNamed(name, zoneOf(timeZone), nowMs);
}

/**
 * A window cut at the borders of a calendar: each of its moments is in one bucket. The first and the last are as long as the window leaves
 * them; the last of a window without an end has none either. Throws invalid_parameter for more than MAX_BUCKETS, or no such time zone.
 */
export function bucketsOf(window: Span, { every, timeZone }: AskedSeries, nowMs: number): readonly Span[] {
  const zone = zoneOf(timeZone);
  if (isEmpty(window)) return [];
  const knownMs = window.toMs ?? Math.max(nowMs, window.fromMs);
  const borders = bordersWithin({ fromMs: window.fromMs, toMs: knownMs }, every, zone, MAX_BUCKETS - 1);
  if (borders === null) {
    throw new ServiceError(
      'invalid_parameter',
      `every: this window has more than ${MAX_BUCKETS} buckets by ${every}; use a shorter window or a longer bucket`,
      { parameter: 'every' },
    );
  }
  const starts = [window.fromMs, ...borders];
  return starts.map((fromMs, place) => ({ fromMs, toMs: starts[place + 1] ?? window.toMs }));
}

const DAY_MS = 86_400_000;
/** Which border after its beginning ends a running window: so many units later. */
const ENDS = {
  today: ['day', 1],
  thisWeek: ['week', 1],
  thisMonth: ['month', 1],
  thisYear: ['month', 12],
} as const satisfies Partial<Record<NamedWindow, readonly [unit: SeriesUnit, units: number]>>;

/** Where the day, week, month or year ends that began at `fromMs` and still runs; null for other windows. Throws as `calendarWindow`. */
export function endOf(name: NamedWindow, timeZone: string | null | undefined, fromMs: number): number | null {
  if (!(name in ENDS)) return null;
  const [unit, units] = ENDS[name as keyof typeof ENDS];
  const borders = bordersWithin({ fromMs, toMs: fromMs + 400 * DAY_MS }, unit, zoneOf(timeZone), MAX_BUCKETS);
  return borders?.[units - 1] ?? null;
}
