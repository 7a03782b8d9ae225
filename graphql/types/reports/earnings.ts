import { ServiceError } from '../../../modules/kernel/errors.ts';
import { mapPage, pageOf } from '../../../modules/paging/use/pages.ts';
import type { AskedSeries } from '../../../modules/reports/use/calendar.ts';
import { endOf } from '../../../modules/reports/use/calendar.ts';
import type {
  BreakdownRow,
  Earnings,
  EarningsBreakdown,
  EarningsBucket,
  EarningsTotals,
} from '../../../modules/reports/use/earnings.ts';
import { readEarnings } from '../../../modules/reports/use/earnings.ts';
import { zipParts } from '../../../modules/reports/use/exportZip.ts';
import type { ReportFrame, Totals } from '../../../modules/reports/use/request.ts';
import { shownWallet } from '../../../modules/reports/use/wallet.ts';
import { LIST_COST, REPORT_COST } from '../../limits/limits.ts';
import { argumentsBelow, isAskedBelow, pagesBelow } from '../../request/asked.ts';
import { builder } from '../../schema/builder.ts';
import type { PageArgs } from '../../schema/connections.ts';
import { connect, connectionOf, listCost, pageArgs, pageRequest } from '../../schema/connections.ts';
import { CrossingKind, CrossingPurposeName, EarningsGroupBy, EarningsOrder, PayerHistoryName } from '../../schema/enums.ts';
import type { OfQuestion } from '../../schema/groups.ts';
import { filterValue, GROUP_ID, GROUP_VALUE, groupId, questionId, REPORT_ID } from '../../schema/groups.ts';
import { filterHex, filterText, hostFilter, lower } from '../../schema/inputs.ts';
import type { OfPage } from '../../schema/pageNames.ts';
import { groupNamer, namesPages } from '../../schema/pageNames.ts';
import type { SeriesArgs } from '../../schema/series.ts';
import {
  askedSeries,
  Bucket,
  eachOnce,
  GROUP_SERIES_DESCRIPTION,
  SERIES_DESCRIPTION,
  seriesArgs,
  seriesBelow,
  seriesFor,
} from '../../schema/series.ts';
import { Tenant } from '../../schema/site.ts';
import type { GivenWindow } from '../../schema/windows.ts';
import { askedWindow, Report, WindowInput } from '../../schema/windows.ts';

/** Counts and money of a group of crossings. */
export const EarningsSums = builder.interfaceRef<Totals>('EarningsSums').implement({
  description: 'Net counts and money of crossings: a correction takes its crossing back.',
  fields: (t) => ({
    events: t.exposeInt('events', { description: 'Reads and citations.' }),
    reads: t.exposeInt('reads', { description: 'Reads.' }),
    citations: t.exposeInt('citations', { description: 'Citations.' }),
    grossMicro: t.field({ type: 'Micro', description: 'What was paid.', resolve: ({ grossMicro }) => grossMicro }),
  }),
});

const EarningsTotalsType = builder.objectRef<EarningsTotals>('EarningsTotals').implement({
  description: 'Totals of a window.',
  interfaces: [EarningsSums],
  fields: (t) => ({ authors: t.exposeInt('authors', { description: 'How many authors’ wallets were paid.' }) }),
});

const EarningsGroupBefore = builder.objectRef<Totals>('EarningsGroupBefore').implement({
  description: 'A group in the window before.',
  interfaces: [EarningsSums],
});

const EarningsBucketType = builder.objectRef<EarningsBucket>('EarningsBucket').implement({
  description: 'What was earned in one stretch of a series.',
  interfaces: [EarningsSums, Bucket],
});

type GroupShown = BreakdownRow & OfPage & OfQuestion & Pick<EarningsReport, 'seriesOfGroup' | 'groupBy'>;

const EarningsGroup = builder.objectRef<GroupShown>('EarningsGroup').implement({
  description: 'One group of a breakdown.',
  interfaces: [EarningsSums],
  fields: (t) => ({
    id: t.id({ description: GROUP_ID, resolve: groupId }),
    key: t.string({
      description: 'What the group is of: a host, a slug, an author’s wallet or id, a kind, and so on.',
      resolve: ({ key }) => shownWallet(key),
    }),
    value: t.string({
      description: GROUP_VALUE,
      resolve: ({ key, groupBy }) => filterValue(groupBy, shownWallet(key)),
    }),
    authorId: t.exposeString('authorId', { nullable: true, description: 'The author’s id, where one is known.' }),
    payerHistory: t.field({
      type: PayerHistoryName,
      nullable: true,
      description: 'Of a payer: whether it had paid before; null for other groups.',
      resolve: ({ history }) => history,
    }),
    payers: t.exposeInt('payers', {
      nullable: true,
      description: 'How many payers a group of `PAYER_HISTORY` has; null for others.',
    }),
    previous: t.field({
      type: EarningsGroupBefore,
      nullable: true,
      description: 'The same group in the window before; null unless `compare` is true.',
      resolve: ({ previous }) => previous,
    }),
    series: t.field({
      type: [EarningsBucketType],
      description: GROUP_SERIES_DESCRIPTION,
      complexity: LIST_COST,
      args: seriesArgs,
      resolve: ({ key, seriesOfGroup }, args) => [...seriesOfGroup(askedSeries(args), key)],
    }),
  }),
});

namesPages(EarningsGroup, ({ page }) => page);

const EarningsGroupConnection = connectionOf(EarningsGroup, 'EarningsGroup', 'groups');

/** What groups are ordered by; groups alike are in the order of their keys. */
const GROUP_MEASURES = {
  EARNED: ({ grossMicro }: BreakdownRow) => grossMicro,
  EVENTS: ({ events }: BreakdownRow) => BigInt(events),
  READS: ({ reads }: BreakdownRow) => BigInt(reads),
  CITATIONS: ({ citations }: BreakdownRow) => BigInt(citations),
  GAIN: ({ grossMicro, previous }: BreakdownRow) => grossMicro - (previous?.grossMicro ?? 0n),
  LOSS: ({ grossMicro, previous }: BreakdownRow) => (previous?.grossMicro ?? 0n) - grossMicro,
} as const;

/** A page of a breakdown by its arguments. The cursors of the usual order stay those of before there was another. */
function groupPage(rows: readonly BreakdownRow[], { orderBy, ...page }: PageArgs & { readonly orderBy?: unknown }) {
  const order = (orderBy ?? 'EARNED') as keyof typeof GROUP_MEASURES | 'KEY';
  if ((order === 'GAIN' || order === 'LOSS') && rows[0]?.previous === null) {
    throw new ServiceError('invalid_parameter', `orderBy: ${order} needs \`compare: true\``, { parameter: 'orderBy' });
  }
  const request = pageRequest(page, order === 'EARNED' ? 'LARGEST' : order);
  return pageOf(order === 'EARNED' ? rows : inOrder(rows, order), ({ key }) => key, request);
}

function inOrder(rows: readonly BreakdownRow[], order: keyof typeof GROUP_MEASURES | 'KEY'): BreakdownRow[] {
  const measure = order === 'KEY' ? () => 0n : GROUP_MEASURES[order];
  return rows.toSorted((a, b) => {
    const [x, y] = [measure(a), measure(b)];
    return x === y ? (a.key < b.key ? -1 : 1) : x > y ? -1 : 1;
  });
}

const PricesType = builder.objectRef<NonNullable<Earnings['prices']>>('Prices').implement({
  description: 'What the crossings of a window cost, those that stand.',
  fields: (t) => ({
    smallest: t.field({ type: 'Micro', description: 'The lowest price.', resolve: ({ smallest }) => smallest }),
    median: t.field({
      type: 'Micro',
      description: 'The lowest price that half of them cost, or less.',
      resolve: ({ p50 }) => p50,
    }),
    p95: t.field({
      type: 'Micro',
      description: 'The lowest price that nineteen in twenty cost, or less.',
      resolve: ({ p95 }) => p95,
    }),
    largest: t.field({ type: 'Micro', description: 'The highest price.', resolve: ({ largest }) => largest }),
  }),
});

const CorrectionsType = builder.objectRef<NonNullable<Earnings['corrections']>>('Corrections').implement({
  description: 'Crossings that were taken back, since the chain took their payment back.',
  fields: (t) => ({
    count: t.exposeInt('count', { description: 'How many; `crossings(filter: { isCorrection: true })` lists them.' }),
    amountMicro: t.field({ type: 'Micro', description: 'What they had paid; not negative.', resolve: ({ micro }) => micro }),
  }),
});

interface EarningsReport extends Earnings, OfQuestion {
  readonly pageOf: (slug: string) => OfPage;
  /** What its window will have earned at its end, at this pace; null: it has ended, or does not run with the calendar. */
  readonly projectedMicro: bigint | null;
  readonly groupBy: EarningsBreakdown | null;
  /** What each of `series` is. */
  readonly read: readonly AskedSeries[];
}

const EarningsType = builder.objectRef<EarningsReport>('Earnings').implement({
  description: 'What a site earned in a window, exact to the micro.',
  interfaces: [Report],
  fields: (t) => ({
    id: t.id({ description: REPORT_ID, resolve: (report) => report.questionId }),
    totals: t.field({ type: EarningsTotalsType, description: 'The whole window.', resolve: ({ totals }) => totals }),
    projectedMicro: t.field({
      type: 'Micro',
      nullable: true,
      description:
        'What the day, week, month or year that is running will have earned at its end, at the pace so far: earned × its length ÷ what of it is ' +
        'over. Of the named windows TODAY, THIS_WEEK, THIS_MONTH and THIS_YEAR; null for others.',
      resolve: ({ projectedMicro }) => projectedMicro,
    }),
    previous: t.field({
      type: EarningsTotalsType,
      nullable: true,
      description: 'The window of the same length right before; null unless `compare` is true.',
      resolve: ({ previous }) => previous,
    }),
    lastEventAt: t.field({
      type: 'EpochMs',
      nullable: true,
      description: 'When the newest crossing of the window was.',
      resolve: ({ lastEventAtMs }) => lastEventAtMs,
    }),
    prices: t.field({
      type: PricesType,
      nullable: true,
      description: 'What its crossings cost; null without any. Reads each of them.',
      complexity: REPORT_COST,
      resolve: ({ prices }) => prices,
    }),
    corrections: t.field({
      type: CorrectionsType,
      nullable: true,
      description: 'What was taken back in the window; the sums have it taken off already.',
      complexity: LIST_COST,
      resolve: ({ corrections }) => corrections,
    }),
    truncated: t.boolean({
      description: 'True when there are more payers, or agents, than the 1,000 of `breakdown`.',
      resolve: ({ isCut }) => isCut,
    }),
    series: t.field({
      type: [EarningsBucketType],
      description: SERIES_DESCRIPTION,
      complexity: REPORT_COST,
      args: seriesArgs,
      resolve: ({ read, series }, args) => [...seriesFor(read, series, args)],
    }),
    archives: t.int({
      nullable: true,
      description: 'How many archives `statements.zip` of the window is; null unless `groupBy` is `AUTHOR_ID`.',
      resolve: ({ groupBy, breakdown }) =>
        groupBy === 'author-id' && breakdown ? zipParts(breakdown.filter(({ authorId }) => authorId !== null).length) : null,
    }),
    breakdown: t.field({
      type: EarningsGroupConnection,
      nullable: true,
      description:
        'The window by `groupBy`, the most money first unless told; null unless that is given. With `compare`, groups that earned in the window before ' +
        'alone come last, with nothing now; no limit drops a group of now for one of them.',
      complexity: listCost,
      args: {
        ...pageArgs,
        orderBy: t.arg({ type: EarningsOrder, defaultValue: 'EARNED', description: 'In which order.' }),
      },
      resolve: ({ breakdown, pageOf: named, seriesOfGroup, groupBy, questionId }, args) => {
        const found = breakdown && groupPage(breakdown, args);
        return found && connect(mapPage(found, (row) => ({ ...row, ...named(row.key), seriesOfGroup, groupBy, questionId })));
      },
    }),
  }),
});

/** What comes of a running calendar window at the pace so far; null where it is none, or has only begun. */
function projected(grossMicro: bigint, given: GivenWindow, { window, generatedAtMs }: ReportFrame): bigint | null {
  const endMs = given?.named ? endOf(given.named, given.timeZone, window.fromMs) : null;
  const overMs = generatedAtMs - window.fromMs;
  if (endMs === null || window.clampedToMs !== null || overMs <= 0) return null;
  return (grossMicro * BigInt(endMs - window.fromMs)) / BigInt(overMs);
}

builder.objectField(Tenant, 'earnings', (t) =>
  t.field({
    type: EarningsType,
    nullable: true,
    description: 'What the site earned in a window. Scope earnings.read.all.',
    authScopes: { reads: 'earnings.read.all' },
    complexity: REPORT_COST,
    args: {
      window: t.arg({ type: WindowInput, description: 'When.' }),
      compare: t.arg.boolean({ description: 'True: also the window of the same length right before.' }),
      groupBy: t.arg({ type: EarningsGroupBy, description: 'What `breakdown` is by.' }),
      host: t.arg.string({ description: 'Only on this host.', validate: filterText }),
      kind: t.arg({ type: CrossingKind, description: 'Reads or citations alone.' }),
      slug: t.arg.string({ description: 'Of this page alone.', validate: filterText }),
      purpose: t.arg({ type: CrossingPurposeName, description: 'Of pages or licences alone.' }),
      author: t.arg.string({ description: 'The legs to this wallet alone.', validate: filterHex }),
      authorId: t.arg.string({ description: 'The legs to all wallets of this author alone.', validate: filterText }),
      agent: t.arg.string({ description: 'Bought by the agent with this label.', validate: filterText }),
      payer: t.arg.string({ description: 'Paid by this address.', validate: filterHex }),
      payerHistory: t.arg({ type: PayerHistoryName, description: 'Paid by those who had, or had not, paid before the window.' }),
    },
    resolve: async (site, args, { deps }, info) => {
      const { window, compare, groupBy, host, author, payer, ...filters } = args;
      const read = seriesBelow(info);
      const groupSeries = pagesBelow(info, 'breakdown', 'series').map(({ page, ofRows }) => ({
        series: eachOnce(ofRows as readonly SeriesArgs[]),
        keysOf: (rows: readonly BreakdownRow[]) => groupPage(rows, page).rows.map(({ row }) => row.key),
      }));
      const report = await readEarnings({ database: deps.reading, clock: deps.clock }, site, {
        ...askedWindow(window, deps.clock()),
        compare: compare ?? false,
        groupBy: groupBy ?? null,
        comparesGroups: true,
        pagesOnly: true,
        series: read,
        groupSeries,
        host: hostFilter(host),
        kind: filters.kind ?? null,
        slug: filters.slug ?? null,
        purpose: filters.purpose ?? null,
        author: lower(author),
        authorId: filters.authorId ?? null,
        payer: lower(payer),
        agent: filters.agent ?? null,
        payerHistory: filters.payerHistory ?? null,
        withPrices: argumentsBelow(info, 'prices').length > 0,
        withCorrections: argumentsBelow(info, 'corrections').length > 0,
        countsAuthors: isAskedBelow(info, ['totals', 'previous'], 'authors'),
        cursorMs: null,
        limit: argumentsBelow(info, 'lastEventAt').length > 0 ? 1 : null,
      });
      return {
        ...report,
        read,
        groupBy: groupBy ?? null,
        pageOf: groupNamer(site, groupBy === 'slug', host),
        questionId: questionId('Earnings', site, args),
        projectedMicro: projected(report.totals.grossMicro, window, report),
      };
    },
  }),
);
