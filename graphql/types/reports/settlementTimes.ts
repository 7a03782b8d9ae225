import type { AskedSeries } from '../../../modules/reports/use/calendar.ts';
import type { SettlementBucket, SettlementTimes } from '../../../modules/reports/use/settlementTimes.ts';
import { readSettlementTimes } from '../../../modules/reports/use/settlementTimes.ts';
import { REPORT_COST } from '../../limits/limits.ts';
import { builder } from '../../schema/builder.ts';
import { CrossingKind, PaymentPurpose } from '../../schema/enums.ts';
import { filterText, hostFilter } from '../../schema/inputs.ts';
import { Bucket, seriesArgs, seriesBelow, seriesFor, TIMES_SERIES_DESCRIPTION } from '../../schema/series.ts';
import { Tenant } from '../../schema/site.ts';
import { askedWindow, Report, WindowInput } from '../../schema/windows.ts';

const Percentiles = builder.objectRef<SettlementTimes['settled']>('Percentiles').implement({
  description: 'How long payments took, from being stored.',
  fields: (t) => ({
    payments: t.exposeInt('payments', { description: 'How many got there.' }),
    p50Ms: t.exposeFloat('p50Ms', {
      nullable: true,
      description: 'Milliseconds after which half of them had; null without any.',
    }),
    p95Ms: t.exposeFloat('p95Ms', { nullable: true, description: 'Milliseconds after which nineteen in twenty had.' }),
  }),
});

const BucketType = builder.objectRef<SettlementBucket>('SettlementBucket').implement({
  description: 'How long the payments took that were stored in one stretch of a series.',
  interfaces: [Bucket],
  fields: (t) => ({
    settled: t.field({ type: Percentiles, description: 'Until they were settled first.', resolve: ({ settled }) => settled }),
    final: t.field({
      type: Percentiles,
      description: 'Until they were final; of those that are.',
      resolve: ({ final }) => final,
    }),
  }),
});

interface TimesReport extends SettlementTimes {
  /** What each of `series` is. */
  readonly read: readonly AskedSeries[];
}

const SettlementTimesType = builder.objectRef<TimesReport>('SettlementTimes').implement({
  description: 'How long the live payments of a window took that stand settled.',
  interfaces: [Report],
  fields: (t) => ({
    settled: t.field({ type: Percentiles, description: 'Until they were settled first.', resolve: ({ settled }) => settled }),
    final: t.field({
      type: Percentiles,
      description: 'Until they were final; of those that are.',
      resolve: ({ final }) => final,
    }),
    series: t.field({
      type: [BucketType],
      description: TIMES_SERIES_DESCRIPTION,
      complexity: REPORT_COST,
      args: seriesArgs,
      resolve: ({ read, series }, args) => [...seriesFor(read, series, args)],
    }),
  }),
});

builder.objectField(Tenant, 'settlementTimes', (t) =>
  t.field({
    type: SettlementTimesType,
    nullable: true,
    description: 'How long payments took to be settled and final; reads every payment of the window. Scope earnings.read.all.',
    authScopes: { reads: 'earnings.read.all' },
    complexity: REPORT_COST,
    args: {
      window: t.arg({ type: WindowInput, description: 'When they were stored.' }),
      host: t.arg.string({ description: 'Only on this host.', validate: filterText }),
      kind: t.arg({ type: CrossingKind, description: 'Reads or citations alone.' }),
      purpose: t.arg({ type: PaymentPurpose, description: 'Of pages or licences alone.' }),
    },
    resolve: async (site, { window, host, kind, purpose }, { deps }, info) => {
      const read = seriesBelow(info);
      const times = await readSettlementTimes({ database: deps.reading, clock: deps.clock }, site, {
        ...askedWindow(window, deps.clock()),
        host: hostFilter(host),
        kind: kind ?? null,
        purpose: purpose ?? null,
        series: read,
      });
      return { ...times, read };
    },
  }),
);
