/** What a window is cut into for a series, and by how much at most. */

/** How long a bucket of a series is, by the calendar of a time zone. */
export const SERIES_UNITS = ['hour', 'day', 'week', 'month'] as const;
/** One of them. */
export type SeriesUnit = (typeof SERIES_UNITS)[number];

/** Most buckets of a series: any 31 days by hour, two years by day, whatever a plan lets read by week or month. */
export const MAX_BUCKETS = 750;

const HOUR_MS = 3_600_000;
/** How long a unit is at least; a day is an hour shorter once a year, which the others make up for. */
const UNIT_MS = { hour: HOUR_MS, day: 24 * HOUR_MS, week: 168 * HOUR_MS, month: 672 * HOUR_MS } as const satisfies Record<
  SeriesUnit,
  number
>;
/** What is cut off at the ends of a window, and changes of the clock that are not of whole hours. */
const RAGGED = 3;

/** The most buckets that a window of this length has in any time zone, `MAX_BUCKETS` at most; null: its length is not known. */
export function mostBuckets(lengthMs: number | null, unit: SeriesUnit): number {
  if (lengthMs === null) return MAX_BUCKETS;
  return Math.min(MAX_BUCKETS, Math.ceil(Math.max(0, lengthMs) / UNIT_MS[unit]) + RAGGED);
}

/** Windows with a name, by the calendar of a time zone; those that hold this moment run on. */
export const NAMED_WINDOWS = [
  'today',
  'yesterday',
  'thisWeek',
  'previousWeek',
  'thisMonth',
  'previousMonth',
  'thisYear',
  'previousYear',
  'last7Days',
  'last28Days',
  'last30Days',
  'last90Days',
] as const;
/** One of them. */
export type NamedWindow = (typeof NAMED_WINDOWS)[number];
