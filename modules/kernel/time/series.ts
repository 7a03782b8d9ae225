/** What a window is cut into for a series, and by how much at most. */

/** How long a bucket of a series is, by the calendar of a time zone. */
export const SERIES_UNITS = ['hour', 'day', 'week', 'month'] as const;
/** One of them. */
export type SeriesUnit = (typeof SERIES_UNITS)[number];

/** Most buckets of a series: any 31 days by hour, two years by day, whatever a plan lets read by week or month. */
export const MAX_BUCKETS = 750;

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
