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

/** What a series costs Postgres is its report's; its buckets are priced as the longest there can be (limits/lists.ts). */
export const SERIES_DESCRIPTION =
  'The window cut at the borders of a calendar, empty buckets included; they add up to `totals`, and are of the same moment. ' +
  `${MAX_BUCKETS} buckets at most, more are refused.`;

/** Arguments of a series. */
export const seriesArgs = builder.args((t) => ({
  every: t.field({ type: SeriesEvery, defaultValue: 'day', description: 'How long a bucket is.' }),
  timeZone: t.string({
    description: 'Whose calendar: an IANA name such as Europe/Berlin. Left out: UTC.',
    validate: timeZoneText,
  }),
}));

interface SeriesArgs {
  readonly every?: SeriesUnit | null | undefined;
  readonly timeZone?: string | null | undefined;
}

function asked({ every, timeZone }: SeriesArgs): AskedSeries {
  return { every: every ?? 'day', timeZone: timeZone ?? 'UTC' };
}

/** Each series that is asked of the report that is being resolved, once. */
export function seriesBelow(info: GraphQLResolveInfo): readonly AskedSeries[] {
  return argumentsBelow(info, 'series')
    .map((args) => asked(args as SeriesArgs))
    .filter((one, place, all) => all.findIndex((other) => isSame(one, other)) === place);
}

/** The series that a field asks for, of those read. */
export function seriesFor<Row>(
  read: readonly AskedSeries[],
  series: readonly (readonly Row[])[],
  args: SeriesArgs,
): readonly Row[] {
  return series[read.findIndex((one) => isSame(one, asked(args)))] ?? [];
}

function isSame(one: AskedSeries, other: AskedSeries): boolean {
  return one.every === other.every && one.timeZone === other.timeZone;
}
