import { pageOf } from '../../services/graph/pages.ts';
import type { BreakdownRow, EarningsTotals } from '../../services/reports/earnings.ts';
import { readEarnings } from '../../services/reports/earnings.ts';
import type { ReportFrame, Totals } from '../../services/reports/request.ts';
import { shownWallet } from '../../services/reports/wallet.ts';
import { builder } from '../builder.ts';
import { connect, connectionOf, listCost, pageArgs, pageRequest } from '../connections.ts';
import { CrossingKind, EarningsGroupBy } from '../enums.ts';
import { filterText, hostFilter } from '../inputs.ts';
import { REPORT_COST } from '../limits/limits.ts';
import { Tenant } from '../site.ts';
import { askedWindow, Report, WindowInput } from '../windows.ts';

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

const EarningsGroup = builder.objectRef<BreakdownRow>('EarningsGroup').implement({
  description: 'One group of a breakdown.',
  interfaces: [EarningsSums],
  fields: (t) => ({
    key: t.string({
      description: 'What the group is of: a host, a slug, an author’s wallet, or a kind.',
      resolve: ({ key }) => shownWallet(key),
    }),
    authorId: t.exposeString('authorId', { nullable: true, description: 'The author’s id, where one is known.' }),
  }),
});

const EarningsGroupConnection = connectionOf(EarningsGroup, 'EarningsGroup', 'groups, the most money first');

interface EarningsReport extends ReportFrame {
  readonly totals: EarningsTotals;
  readonly previous: EarningsTotals | null;
  readonly breakdown: readonly BreakdownRow[] | null;
  readonly lastEventAtMs: number | null;
}

const EarningsType = builder.objectRef<EarningsReport>('Earnings').implement({
  description: 'What a site earned in a window, exact to the micro.',
  interfaces: [Report],
  fields: (t) => ({
    totals: t.field({ type: EarningsTotalsType, description: 'The whole window.', resolve: ({ totals }) => totals }),
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
    breakdown: t.field({
      type: EarningsGroupConnection,
      nullable: true,
      description: 'The window by `groupBy`, the most money first; null unless that is given.',
      complexity: listCost,
      args: pageArgs,
      resolve: ({ breakdown }, page) => {
        const request = pageRequest(page, 'LARGEST');
        return (
          breakdown &&
          connect(
            pageOf(breakdown, ({ key }) => key, request),
            request,
          )
        );
      },
    }),
  }),
});

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
      host: t.arg.string({ description: 'On this host alone.', validate: filterText }),
      kind: t.arg({ type: CrossingKind, description: 'Reads or citations alone.' }),
    },
    resolve: (site, { window, compare, groupBy, host, kind }, { deps }) =>
      readEarnings({ database: deps.reading, clock: deps.clock }, site, {
        ...askedWindow(window, deps.clock()),
        ...{ compare: compare ?? false, groupBy: groupBy ?? null, host: hostFilter(host), kind: kind ?? null },
        ...{ cursorMs: null, limit: 1 },
      }),
  }),
);
