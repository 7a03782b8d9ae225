import { mapPage, pageOf } from '../../../modules/paging/use/pages.ts';
import type { Bucket, Reconciliation, ReconciliationException } from '../../../modules/reconciliation/use/report.ts';
import { readReconciliation } from '../../../modules/reconciliation/use/report.ts';
import type { WaitingAuthor, WaitingReason } from '../../../modules/reconciliation/use/waiting.ts';
import { waitingAuthors } from '../../../modules/reconciliation/use/waiting.ts';
import { authorIdsOf } from '../../../modules/reports/use/lists/authors.ts';
import type { Crossing } from '../../../modules/reports/use/lists/lists.ts';
import { crossings, payments } from '../../../modules/reports/use/lists/lists.ts';
import type { ReportFrame } from '../../../modules/reports/use/request.ts';
import { shownWallet } from '../../../modules/reports/use/wallet.ts';
import { REPORT_COST, ROW_COST } from '../../limits/limits.ts';
import type { GraphqlContext } from '../../request/context.ts';
import { builder } from '../../schema/builder.ts';
import { connect, connectionOf, listCost, pageArgs, pageRequest } from '../../schema/connections.ts';
import { CrossingKind, ExceptionReason } from '../../schema/enums.ts';
import { filterHex } from '../../schema/inputs.ts';
import { eachBy, keyIn, loadBySite } from '../../schema/loading.ts';
import { namesPages } from '../../schema/pageNames.ts';
import { Tenant } from '../../schema/site.ts';
import { askedWindow, Report, WindowInput } from '../../schema/windows.ts';
import { CrossingType, PaymentType } from '../refs.ts';

/** Authors’ ids of a list’s wallets, in one statement. */
const AUTHOR_ID = {
  type: 'String',
  nullable: true,
  description: 'The author’s id, as the newest leg to the wallet names it; null: none does.',
  complexity: ROW_COST,
  load: (keys: string[], { deps }: GraphqlContext) =>
    loadBySite(keys, (tenantId, wallets) => authorIdsOf(deps, tenantId, wallets)),
} as const;

const RecordedType = builder.objectRef<Reconciliation['recorded']>('Recorded').implement({
  description: 'What the ledger says of a window.',
  fields: (t) => ({
    events: t.exposeInt('events', { description: 'Crossings, net of corrections.' }),
    grossMicro: t.field({ type: 'Micro', description: 'Their money.', resolve: ({ grossMicro }) => grossMicro }),
  }),
});

const BucketType = builder.objectRef<Bucket>('LegSum').implement({
  description: 'Legs and their money.',
  fields: (t) => ({
    legs: t.exposeInt('legs', { description: 'How many.' }),
    amountMicro: t.field({ type: 'Micro', description: 'Their money.', resolve: ({ micro }) => micro }),
    micro: t.field({
      type: 'Micro',
      description: 'Their money.',
      resolve: ({ micro }) => micro,
      deprecationReason: 'Use `amountMicro`.',
    }),
  }),
});

type Exception = ReconciliationException & Pick<Crossing, 'tenantId'> & { readonly nowMs: number };

const ExceptionType = builder.objectRef<Exception>('ReconciliationException').implement({
  description: 'A recorded leg that the chain does not show settled.',
  fields: (t) => ({
    crossingId: t.exposeID('crossingId', { description: 'The crossing it is a leg of.' }),
    host: t.exposeString('host', { description: 'The host it was on.' }),
    slug: t.exposeString('slug', { description: 'The page.' }),
    kind: t.field({ type: CrossingKind, description: 'Read or citation.', resolve: ({ kind }) => kind }),
    toAddress: t.exposeString('toAddress', { description: 'The wallet that waits.' }),
    authorId: t.loadable({ ...AUTHOR_ID, resolve: (leg) => keyIn(leg, leg.toAddress.toLowerCase()) }),
    amountMicro: t.field({ type: 'Micro', description: 'Its money.', resolve: ({ micro }) => micro }),
    micro: t.field({
      type: 'Micro',
      description: 'Its money.',
      resolve: ({ micro }) => micro,
      deprecationReason: 'Use `amountMicro`.',
    }),
    reason: t.field({ type: ExceptionReason, description: 'Why.', resolve: ({ reason }) => reason }),
    txHash: t.exposeString('txHash', { nullable: true, description: 'The transaction that should have settled it.' }),
    recordedAt: t.field({ type: 'EpochMs', description: 'Since when.', resolve: ({ recordedAt }) => recordedAt.getTime() }),
    ageMs: t.float({
      description: 'For how long, in milliseconds.',
      resolve: ({ recordedAt, nowMs }) => Math.max(0, nowMs - recordedAt.getTime()),
    }),
    crossing: t.loadable({
      type: CrossingType,
      nullable: true,
      description: 'The crossing it is a leg of.',
      complexity: ROW_COST,
      load: eachBy(crossings, 'id'),
      resolve: (leg) => keyIn(leg, leg.crossingId),
    }),
    payment: t.loadable({
      type: PaymentType,
      nullable: true,
      description: 'Its payment, with state and workflow.',
      complexity: ROW_COST,
      load: eachBy(payments, 'id'),
      resolve: (leg) => keyIn(leg, leg.paymentId),
    }),
  }),
});

namesPages(ExceptionType, (leg) => leg);

const WaitingReasonType = builder.objectRef<WaitingReason>('WaitingReason').implement({
  description: 'Legs that wait for one reason.',
  fields: (t) => ({
    reason: t.field({ type: ExceptionReason, description: 'Why.', resolve: ({ reason }) => reason }),
    legs: t.exposeInt('legs', { description: 'How many.' }),
    amountMicro: t.field({ type: 'Micro', description: 'Their money.', resolve: ({ micro }) => micro }),
    micro: t.field({
      type: 'Micro',
      description: 'Their money.',
      resolve: ({ micro }) => micro,
      deprecationReason: 'Use `amountMicro`.',
    }),
  }),
});

type Waiting = WaitingAuthor & Pick<Crossing, 'tenantId'>;

const WaitingAuthorType = builder.objectRef<Waiting>('WaitingAuthor').implement({
  description: 'An author whose money the chain does not show yet.',
  fields: (t) => ({
    wallet: t.exposeString('wallet', { description: 'The author’s wallet.' }),
    authorId: t.loadable({ ...AUTHOR_ID, resolve: (author) => keyIn(author, author.wallet.toLowerCase()) }),
    legs: t.exposeInt('legs', { description: 'How many legs wait.' }),
    amountMicro: t.field({ type: 'Micro', description: 'Their money.', resolve: ({ micro }) => micro }),
    micro: t.field({
      type: 'Micro',
      description: 'Their money.',
      resolve: ({ micro }) => micro,
      deprecationReason: 'Use `amountMicro`.',
    }),
    oldestAt: t.field({ type: 'EpochMs', description: 'Since when the oldest waits.', resolve: ({ oldestAtMs }) => oldestAtMs }),
    reasons: t.field({
      type: [WaitingReasonType],
      description: 'Why, the most money first.',
      resolve: ({ reasons }) => reasons,
    }),
  }),
});

const ExceptionConnection = connectionOf(ExceptionType, 'ReconciliationException', 'exceptions, the oldest first');
const WaitingAuthorConnection = connectionOf(WaitingAuthorType, 'WaitingAuthor', 'waiting authors, the most money first');

type ReconciliationReport = ReportFrame & Reconciliation & { readonly tenantId: string };

const ReconciliationType = builder.objectRef<ReconciliationReport>('Reconciliation').implement({
  description: 'Recorded legs against the transfers the chain shows, to the micro: settled + outstanding = recorded.',
  interfaces: [Report],
  fields: (t) => ({
    recorded: t.field({ type: RecordedType, description: 'What the ledger says.', resolve: ({ recorded }) => recorded }),
    settled: t.field({ type: BucketType, description: 'Legs the chain shows.', resolve: ({ settled }) => settled }),
    outstanding: t.field({ type: BucketType, description: 'Legs it does not.', resolve: ({ outstanding }) => outstanding }),
    truncatedExceptions: t.exposeBoolean('truncatedExceptions', {
      description: 'True when there are more exceptions than the oldest 1,000, which `exceptions` and `waiting` are made of.',
    }),
    exceptions: t.field({
      type: ExceptionConnection,
      description: 'Legs that are outstanding, the oldest first.',
      complexity: listCost,
      args: {
        ...pageArgs,
        reason: t.arg({ type: ExceptionReason, description: 'For this reason alone.' }),
        author: t.arg.string({ description: 'Of this wallet alone.', validate: filterHex }),
      },
      resolve: ({ exceptions, tenantId, generatedAtMs: nowMs }, { reason, author, ...page }) => {
        const request = pageRequest(page, 'OLDEST');
        const wallet = author ? shownWallet(author.toLowerCase()) : null;
        const wanted = exceptions
          .filter((leg) => (!reason || leg.reason === reason) && (wallet === null || leg.toAddress === wallet))
          .map((leg, index) => ({ ...leg, tenantId, nowMs, key: `${leg.crossingId} ${leg.toAddress} ${index}` }));
        return connect(pageOf(wanted, ({ key }) => key, request));
      },
    }),
    waiting: t.field({
      type: WaitingAuthorConnection,
      description: 'Which authors wait for money, and why; the most money first.',
      complexity: listCost,
      args: pageArgs,
      resolve: ({ exceptions, tenantId }, page) => {
        const request = pageRequest(page, 'LARGEST');
        const found = pageOf(waitingAuthors(exceptions), ({ wallet }) => wallet, request);
        return connect(mapPage(found, (author) => ({ ...author, tenantId })));
      },
    }),
  }),
});

builder.objectField(Tenant, 'reconciliation', (t) =>
  t.field({
    type: ReconciliationType,
    nullable: true,
    description: 'Recorded, settled and outstanding, with what is open. Scope earnings.read.all.',
    authScopes: { reads: 'earnings.read.all' },
    complexity: REPORT_COST,
    args: { window: t.arg({ type: WindowInput, description: 'When.' }) },
    resolve: async (site, { window }, { deps }) => {
      const asked = askedWindow(window, deps.clock());
      const report = await readReconciliation({ database: deps.reading, clock: deps.clock }, site, asked);
      return { ...report, tenantId: site.tenantId };
    },
  }),
);
