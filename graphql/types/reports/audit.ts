import type { InputShapeFromFields } from '@pothos/core';
import { FAILURE_REASONS } from '../../../modules/kernel/errors.ts';
import { mapPage, pageOf } from '../../../modules/paging/use/pages.ts';
import type {
  AgentRow,
  Audit,
  AuditBucket,
  AuditGroup as AuditGroupName,
  AuditGroupRow,
  AuditTotals,
} from '../../../modules/reports/use/audit.ts';
import { readAudit } from '../../../modules/reports/use/audit.ts';
import type { AskedSeries } from '../../../modules/reports/use/calendar.ts';
import type { AgentSums, AgentTotals } from '../../../modules/reports/use/lists/agents.ts';
import { readAgents } from '../../../modules/reports/use/lists/agents.ts';
import { shownWallet } from '../../../modules/reports/use/wallet.ts';
import { LIST_COST, REPORT_COST } from '../../limits/limits.ts';
import { pagesBelow } from '../../request/asked.ts';
import { builder } from '../../schema/builder.ts';
import type { PageArgs } from '../../schema/connections.ts';
import { connect, connectionOf, listCost, pageArgs, pageRequest } from '../../schema/connections.ts';
import { AgentOrder, AuditGroupBy, AuditOrder, CrossingKind, FailureReason, Verdict } from '../../schema/enums.ts';
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
import { askedWindow, Report, WindowInput } from '../../schema/windows.ts';
import { AnsweredType } from './answered.ts';

const FailureCount = builder
  .objectRef<{ readonly reason: (typeof FAILURE_REASONS)[number]; readonly count: number }>('FailureCount')
  .implement({
    description: 'How many payments failed for a reason.',
    fields: (t) => ({
      reason: t.field({ type: FailureReason, description: 'Why.', resolve: ({ reason }) => reason }),
      count: t.exposeInt('count', { description: 'How many.' }),
    }),
  });

const VERIFIED_EARNED =
  'Of `earnedMicro`, what requests paid whose signature verified. The rest was paid by agents that proved nothing.';

const AuditTotalsType = builder.objectRef<AuditTotals>('AuditTotals').implement({
  description: 'Net sums of observations.',
  interfaces: [AnsweredType],
  fields: (t) => ({
    observations: t.exposeInt('observations', { description: 'Requests.' }),
    agentHits: t.exposeInt('agentHits', { description: 'Requests classified as agents.' }),
    peopleHits: t.exposeInt('peopleHits', { description: 'Requests classified as those of people; no list of agents has them.' }),
    denied: t.exposeInt('denied', { description: 'Requests that were denied.' }),
    paid: t.exposeInt('paid', { description: 'Requests that were paid.' }),
    servedFree: t.exposeInt('servedFree', { description: 'Requests that were served free.' }),
    freeForWantOfAuthors: t.exposeInt('freeForWantOfAuthors', {
      description:
        'Requests of agents for pages that were free because no author is named to be paid: `setPrices` takes a default payee.',
    }),
    paymentFailed: t.exposeInt('paymentFailed', { description: 'Payments that failed.' }),
    verifiedHits: t.exposeInt('verifiedHits', { description: 'Requests with a signature that verified.' }),
    masqueradeAttempts: t.exposeInt('masqueradeAttempts', {
      description:
        'Requests from agents that are not who they claim to be: a signature failed, or the address is not the named robot’s.',
    }),
    missedMicro: t.field({
      type: 'Micro',
      description: 'What denied and blocked requests would have paid, answered ones too.',
      resolve: ({ missedMicro }) => missedMicro,
    }),
    failedMicro: t.field({
      type: 'Micro',
      description: 'What failed payments would have paid.',
      resolve: ({ failedMicro }) => failedMicro,
    }),
    earnedMicro: t.field({ type: 'Micro', description: 'What paid requests paid.', resolve: ({ earnedMicro }) => earnedMicro }),
    verifiedEarnedMicro: t.field({
      type: 'Micro',
      description: VERIFIED_EARNED,
      resolve: ({ verifiedEarnedMicro }) => verifiedEarnedMicro,
    }),
    failedByReason: t.field({
      type: [FailureCount],
      description: 'Failed payments by reason; every reason is listed.',
      resolve: ({ failedByReason }) => FAILURE_REASONS.map((reason) => ({ reason, count: failedByReason[reason] })),
    }),
  }),
});

const AuditBucketType = builder.objectRef<AuditBucket>('AuditBucket').implement({
  description: 'What was observed in one stretch of a series.',
  interfaces: [Bucket],
  fields: (t) => ({
    totals: t.field({ type: AuditTotalsType, description: 'Net sums of the stretch.', resolve: ({ totals }) => totals }),
  }),
});

type GroupShown = AuditGroupRow & OfPage & OfQuestion & Pick<AuditReport, 'groupBy' | 'seriesOfGroup'>;

const AuditGroup = builder.objectRef<GroupShown>('AuditGroup').implement({
  description: 'One group of the audit.',
  interfaces: [AnsweredType],
  fields: (t) => ({
    id: t.id({ description: GROUP_ID, resolve: groupId }),
    value: t.string({ description: GROUP_VALUE, resolve: ({ key, groupBy }) => filterValue(groupBy, shownWallet(key)) }),
    key: t.string({
      description: 'What the group is of: a host, slug, wallet, kind, agent label or verdict; empty where there is none.',
      resolve: ({ key }) => shownWallet(key),
    }),
    authorId: t.exposeString('authorId', { nullable: true, description: 'The author’s id, where one is known.' }),
    hits: t.exposeInt('hits', { description: 'Requests.' }),
    denied: t.exposeInt('denied', { description: 'Requests that were denied.' }),
    paid: t.exposeInt('paid', { description: 'Requests that were paid.' }),
    missedMicro: t.field({ type: 'Micro', description: 'What was missed.', resolve: ({ missedMicro }) => missedMicro }),
    earnedMicro: t.field({ type: 'Micro', description: 'What was earned.', resolve: ({ earnedMicro }) => earnedMicro }),
    verifiedEarnedMicro: t.field({
      type: 'Micro',
      description: VERIFIED_EARNED,
      resolve: ({ verifiedEarnedMicro }) => verifiedEarnedMicro,
    }),
    series: t.field({
      type: [AuditBucketType],
      description: GROUP_SERIES_DESCRIPTION,
      complexity: LIST_COST,
      args: seriesArgs,
      resolve: ({ key, seriesOfGroup }, args) => [...seriesOfGroup(askedSeries(args), key)],
    }),
  }),
});

namesPages(AuditGroup, ({ page }) => page);

const AuditAgent = builder.objectRef<AgentRow>('AuditAgent').implement({
  description: 'One agent among the requests that were classified as agents.',
  fields: (t) => ({
    agent: t.exposeString('agent', { description: 'Its label.' }),
    hits: t.exposeInt('hits', { description: 'Requests.' }),
    denied: t.exposeInt('denied', { description: 'Requests that were denied.' }),
    answered: t.exposeInt('answered', { description: 'Paid requests that a gate had denied before.' }),
    paid: t.exposeInt('paid', { description: 'Requests that were paid.' }),
    verified: t.exposeBoolean('verified', { description: 'True when one of its signatures verified.' }),
  }),
});

const AuditGroupConnection = connectionOf(AuditGroup, 'AuditGroup', 'groups');
const AuditAgentConnection = connectionOf(AuditAgent, 'AuditAgent', 'agents, the busiest first');

const GROUP_MEASURES = {
  HITS: ({ hits }: AuditGroupRow) => BigInt(hits),
  DENIED: ({ denied }: AuditGroupRow) => BigInt(denied),
  PAID: ({ paid }: AuditGroupRow) => BigInt(paid),
  MISSED: ({ missedMicro }: AuditGroupRow) => missedMicro,
  UNANSWERED: ({ unanswered }: AuditGroupRow) => BigInt(unanswered),
  UNANSWERED_MICRO: ({ unansweredMicro }: AuditGroupRow) => unansweredMicro,
  EARNED: ({ earnedMicro }: AuditGroupRow) => earnedMicro,
};

function inOrder(rows: readonly AuditGroupRow[], orderBy: keyof typeof GROUP_MEASURES): AuditGroupRow[] {
  const measure = GROUP_MEASURES[orderBy];
  return rows.toSorted((a, b) => {
    const [x, y] = [measure(a), measure(b)];
    return x === y ? (a.key < b.key ? -1 : 1) : x > y ? -1 : 1;
  });
}

interface AuditReport extends Audit, OfQuestion {
  readonly groupBy: AuditGroupName | null;
  readonly pageOf: (slug: string) => OfPage;
  /** What each of `series` is. */
  readonly read: readonly AskedSeries[];
}

const AuditType = builder.objectRef<AuditReport>('Audit').implement({
  description: 'What was observed on a site in a window. Every filter applies to every part.',
  interfaces: [Report],
  fields: (t) => ({
    id: t.id({ description: REPORT_ID, resolve: (report) => report.questionId }),
    totals: t.field({ type: AuditTotalsType, description: 'The whole window.', resolve: ({ totals }) => totals }),
    previous: t.field({
      type: AuditTotalsType,
      nullable: true,
      description: 'The window of the same length right before; null unless `compare` is true.',
      resolve: ({ previous }) => previous,
    }),
    series: t.field({
      type: [AuditBucketType],
      description: SERIES_DESCRIPTION,
      complexity: REPORT_COST,
      args: seriesArgs,
      resolve: ({ read, series }, args) => [...seriesFor(read, series, args)],
    }),
    truncated: t.boolean({
      description: 'True when there are more groups or agents than the busiest 1,000.',
      resolve: ({ isCut }) => isCut,
    }),
    breakdown: t.field({
      type: AuditGroupConnection,
      nullable: true,
      description: 'The window by `groupBy`; null unless that is given.',
      complexity: listCost,
      args: {
        ...pageArgs,
        orderBy: t.arg({ type: AuditOrder, defaultValue: 'HITS', description: 'In which order.' }),
      },
      resolve: ({ breakdown, pageOf: named, groupBy, seriesOfGroup, questionId: of }, args) => {
        const found = breakdown && groupPage(breakdown, args);
        return found && connect(mapPage(found, (row) => ({ ...row, ...named(row.key), groupBy, seriesOfGroup, questionId: of })));
      },
    }),
    byAgent: t.field({
      type: AuditAgentConnection,
      description: 'Requests classified as agents, the busiest first.',
      complexity: listCost,
      args: pageArgs,
      resolve: ({ byAgent }, page) => {
        const request = pageRequest(page, 'HITS');
        return connect(pageOf(byAgent, ({ agent }) => agent, request));
      },
    }),
  }),
});

/** A page of a breakdown by its arguments. */
function groupPage(rows: readonly AuditGroupRow[], { orderBy, ...page }: PageArgs & { readonly orderBy?: unknown }) {
  const order = (orderBy ?? 'HITS') as keyof typeof GROUP_MEASURES;
  return pageOf(inOrder(rows, order), ({ key }) => key, pageRequest(page, order));
}

/** What agents did. */
export const AgentSumsType = builder.interfaceRef<AgentSums>('AgentSums').implement({
  description: 'What agents did in a window.',
  interfaces: [AnsweredType],
  fields: (t) => ({
    hits: t.exposeInt('hits', { description: 'Requests.' }),
    paid: t.exposeInt('paid', { description: 'Requests that were paid.' }),
    denied: t.exposeInt('denied', { description: 'Requests that were denied.' }),
    paymentFailed: t.exposeInt('paymentFailed', { description: 'Payments that failed.' }),
    servedFree: t.exposeInt('servedFree', { description: 'Requests that were served free.' }),
    verifiedHits: t.exposeInt('verifiedHits', { description: 'Requests with a signature that verified.' }),
    masqueradeAttempts: t.exposeInt('masqueradeAttempts', {
      description:
        'Requests from agents that are not who they claim to be: a signature failed, or the address is not the named robot’s.',
    }),
    earnedMicro: t.field({ type: 'Micro', description: 'What they paid.', resolve: ({ earnedMicro }) => earnedMicro }),
    verifiedEarnedMicro: t.field({
      type: 'Micro',
      description: VERIFIED_EARNED,
      resolve: ({ verifiedEarnedMicro }) => verifiedEarnedMicro,
    }),
    missedMicro: t.field({ type: 'Micro', description: 'What they would have paid.', resolve: ({ missedMicro }) => missedMicro }),
    failedMicro: t.field({
      type: 'Micro',
      description: 'What their failed payments would have paid.',
      resolve: ({ failedMicro }) => failedMicro,
    }),
  }),
});

/** One agent of a window. */
export const AgentType = builder.objectRef<AgentTotals>('Agent').implement({
  description: 'What one agent did in a window, by its label.',
  interfaces: [AgentSumsType, AnsweredType],
  fields: (t) => ({
    agent: t.exposeString('agent', {
      description: 'Its label: a verified host, a known crawler, the name it gives itself, or `other`. A name proves nothing.',
    }),
  }),
});

const AgentConnection = connectionOf(AgentType, 'Agent', 'agents');

/** Arguments of lists of agents. */
export const agentArgs = builder.args((t) => ({
  ...pageArgs,
  window: t.field({ type: WindowInput, description: 'When.' }),
  host: t.string({ description: 'Only on this host.', validate: filterText }),
  kind: t.field({ type: CrossingKind, description: 'Reads or citations alone.' }),
  orderBy: t.field({ type: AgentOrder, defaultValue: 'EARNED', description: 'In which order.' }),
}));

/** What a list of agents is asked for, as the service takes it. Throws invalid_parameter. */
export function askedAgents({ window, host, kind, orderBy, ...page }: InputShapeFromFields<typeof agentArgs>, nowMs: number) {
  const order = orderBy ?? 'EARNED';
  return {
    asked: { ...askedWindow(window, nowMs), host: hostFilter(host), kind: kind ?? null },
    order,
    request: pageRequest(page, order),
  };
}

builder.objectFields(Tenant, (t) => ({
  audit: t.field({
    type: AuditType,
    nullable: true,
    description: 'What was observed in a window: missed, failed and earned. Scope audit.read.',
    authScopes: { reads: 'audit.read' },
    complexity: REPORT_COST,
    args: {
      window: t.arg({ type: WindowInput, description: 'When.' }),
      compare: t.arg.boolean({ description: 'True: also the window of the same length right before.' }),
      groupBy: t.arg({ type: AuditGroupBy, description: 'What `breakdown` is by.' }),
      host: t.arg.string({ description: 'Only on this host.', validate: filterText }),
      kind: t.arg({ type: CrossingKind, description: 'Reads or citations alone.' }),
      verdict: t.arg({ type: Verdict, description: 'With this verdict alone.' }),
      agent: t.arg.string({
        description: 'A label, or the exact User-Agent or verified host that an agent sent.',
        validate: filterText,
      }),
      agentName: t.arg.string({
        description:
          'Only requests with exactly this name, as `otherAgents` shows it. `agent` is then a label. Reads every row of the window.',
        validate: filterText,
      }),
      slug: t.arg.string({ description: 'Of this page alone; reads every row of the window.', validate: filterText }),
      author: t.arg.string({
        description: 'What payments to this wallet stand behind, with its part of the money; reads every row of the window.',
        validate: filterHex,
      }),
    },
    resolve: async (site, args, { deps }, info) => {
      const { window, compare, groupBy, host, kind, ...of } = args;
      const read = seriesBelow(info);
      const report = await readAudit({ database: deps.reading, clock: deps.clock }, site, {
        ...askedWindow(window, deps.clock()),
        compare: compare ?? false,
        groupBy: groupBy ?? null,
        host: hostFilter(host),
        kind: kind ?? null,
        series: read,
        groupSeries: pagesBelow(info, 'breakdown', 'series').map(({ page, ofRows }) => ({
          series: eachOnce(ofRows as readonly SeriesArgs[]),
          keysOf: (rows: readonly AuditGroupRow[]) => groupPage(rows, page).rows.map(({ row }) => row.key),
        })),
        verdict: of.verdict ?? null,
        agent: of.agent ?? null,
        agentName: of.agentName ?? null,
        slug: of.slug ?? null,
        author: lower(of.author),
        cursorMs: null,
        limit: 1,
      });
      return {
        ...report,
        read,
        groupBy: groupBy ?? null,
        pageOf: groupNamer(site, groupBy === 'slug', host),
        questionId: questionId('Audit', site, args),
      };
    },
  }),
  agents: t.field({
    type: AgentConnection,
    nullable: true,
    description: 'Every agent of a window with what it paid, missed and failed. Scope audit.read.',
    authScopes: { reads: 'audit.read' },
    complexity: (args) => ({ ...listCost(args), field: REPORT_COST }),
    args: agentArgs,
    resolve: async (site, args, { deps }) => {
      const { asked, order, request } = askedAgents(args, deps.clock());
      const { agents } = await readAgents(deps, site, asked, order);
      return connect(pageOf(agents, ({ agent }) => agent, request));
    },
  }),
}));
