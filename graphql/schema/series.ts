import type { GraphQLResolveInfo } from 'graphql';
import type { SeriesUnit } from '../../modules/kernel/time/series.ts';
import { MAX_BUCKETS } from '../../modules/kernel/time/series.ts';
import type { Span } from '../../modules/kernel/time/window.ts';
import type { AskedSeries } from '../../modules/reports/use/calendar.ts';
import { argumentsBelow } from '../request/asked.ts';
import { builder } from './builder.ts';
import { SeriesEvery } from './enums.ts';
import { timeZoneText } from './inputs.ts';

/** A stretch of a series. */
export const Bucket = builder.interfaceRef<Span>('Bucket').implement({
  description: 'A stretch of a series: each moment of the window is in one of them.',
  fields: (t) => ({
    from: t.field({
      type: 'EpochMs',
      description: 'Where it begins: with its hour, day, week or month, or with the window.',
      resolve: ({ fromMs }) => fromMs,
    }),
    to: t.field({
      type: 'EpochMs',
      nullable: true,
      description: 'Where it ends; does not belong to it. Null: no end, as its window.',
      resolve: ({ toMs }) => toMs,
    }),
  }),
});

/** What a series costs Postgres is its report's; as many buckets are priced as its window can have (limits/measure.ts). */
export const SERIES_DESCRIPTION =
  'The window cut at the borders of a calendar, empty buckets included; they add up to `totals`, and are of the same moment. ' +
  `${MAX_BUCKETS} buckets at most, more are refused.`;

/** What a series of durations is. */
export const TIMES_SERIES_DESCRIPTION = `The window cut at the borders of a calendar, empty stretches included; ${MAX_BUCKETS} at most, more are refused.`;

/** What the series of one group is. */
export const GROUP_SERIES_DESCRIPTION =
  'The group in each stretch of the window, empty ones included; they add up to the group, and are of the same moment. Give the report a ' +
  '`window`: so many buckets are priced as it can have, for each row of the page.';

/** Arguments of a series. */
export const seriesArgs = builder.args((t) => ({
  every: t.field({ type: SeriesEvery, defaultValue: 'day', description: 'How long a bucket is.' }),
  timeZone: t.string({
    description: 'Whose calendar: an IANA name such as Europe/Berlin. Left out: UTC.',
    validate: timeZoneText,
  }),
}));

/** A series as arguments have it. */
export interface SeriesArgs {
  readonly every?: SeriesUnit | null | undefined;
  readonly timeZone?: string | null | undefined;
}

/** The series that arguments ask for. */
export function askedSeries({ every, timeZone }: SeriesArgs): AskedSeries {
  return { every: every ?? 'day', timeZone: timeZone ?? 'UTC' };
}

/** Each series that is asked of the report that is being resolved, once. */
export function seriesBelow(info: GraphQLResolveInfo): readonly AskedSeries[] {
  return eachOnce(argumentsBelow(info, 'series'));
}

/** The series that arguments ask for, each once. */
export function eachOnce(all: readonly SeriesArgs[]): readonly AskedSeries[] {
  return all.map(askedSeries).filter((one, place, series) => series.findIndex((other) => isSame(one, other)) === place);
}

/** The series that a field asks for, of those read. */
export function seriesFor<Row>(
  read: readonly AskedSeries[],
  series: readonly (readonly Row[])[],
  args: SeriesArgs,
): readonly Row[] {
  return series[read.findIndex((one) => isSame(one, askedSeries(args)))] ?? [];
}

function isSame(one: AskedSeries, other: AskedSeries): boolean {
  return one.every === other.every && one.timeZone === other.timeZone;
}
