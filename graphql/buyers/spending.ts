import type {
  Spending,
  SpendingFilter,
  SpendingGroup,
  SpendingGroupBy,
  SpendingOutcome,
  SpendingSums,
} from '../../modules/budgets/use/usage.ts';
import { readSpendingBy, readSpendingSums, spendingOf } from '../../modules/budgets/use/usage.ts';
import { REPORT_COST } from '../limits/limits.ts';
import { MOST_OF } from '../limits/lists.ts';
import { advising } from '../request/errors.ts';
import { builder } from '../schema/builder.ts';
import { connectionOf, findPage, listCost, pageArgs, pageRequest } from '../schema/connections.ts';
import { CrossingKind, FailureReason, named, PaymentPurpose, PaymentState, TimeOrder } from '../schema/enums.ts';
import { filterText, hostFilter } from '../schema/inputs.ts';
import type { GivenWindow } from '../schema/windows.ts';
import { askedWindow, WindowInput } from '../schema/windows.ts';
import { words } from '../schema/words.ts';
import { BuyerAccount } from './account.ts';

const OutcomeName = words<SpendingOutcome>('SpendingOutcome', 'What became of what an account spent.', {
  open: 'The money may still move: it counts.',
  settled: 'The money moved.',
  released: 'The money did not move and can no longer: it counts no more.',
});

const SpendingType = builder.objectRef<Spending>('Spending').implement({
  description: 'A payment that counts, or counted, against the account.',
  fields: (t) => ({
    at: t.field({ type: 'EpochMs', description: 'When it was taken in.', resolve: ({ at }) => at }),
    host: t.exposeString('host', { description: 'Of which site.' }),
    resource: t.exposeString('resource', { description: 'The URL that was paid for.' }),
    kind: t.field({ type: CrossingKind, description: 'A read or a citation.', resolve: ({ kind }) => kind }),
    purpose: t.field({ type: PaymentPurpose, description: 'A page or a licence.', resolve: ({ purpose }) => purpose }),
    amountMicro: t.field({ type: 'Micro', description: 'How much.', resolve: ({ amountMicro }) => amountMicro }),
    outcome: t.field({ type: OutcomeName, description: 'What became of it.', resolve: ({ outcome }) => outcome }),
    paymentState: t.field({
      type: PaymentState,
      description: 'Where its payment stands.',
      resolve: ({ paymentState }) => paymentState,
    }),
    reason: t.field({ type: FailureReason, nullable: true, description: 'Why it failed.', resolve: ({ reason }) => reason }),
    network: t.exposeString('network', { description: 'On which network, CAIP-2.' }),
    payer: t.exposeString('payer', { description: 'Who signed.' }),
    nonce: t.exposeString('nonce', { description: 'The nonce that was signed.' }),
    txHash: t.exposeString('txHash', { nullable: true, description: 'The transaction that moved it.' }),
    licenceJti: t.id({
      nullable: true,
      description: 'The licence over pages that it bought; null for a page.',
      resolve: ({ purpose, outcome, paymentId }) => (purpose === 'licence' && outcome === 'settled' ? paymentId : null),
    }),
  }),
});

const SumsType = builder.objectRef<SpendingSums>('SpendingSums').implement({
  description: 'What spending comes to.',
  fields: (t) => ({
    payments: t.exposeInt('payments', { description: 'How many payments, released ones included.' }),
    settledMicro: t.expose('settledMicro', { type: 'Micro', description: 'Money that moved.' }),
    openMicro: t.expose('openMicro', { type: 'Micro', description: 'Money that may still move, and counts.' }),
  }),
});

const GroupType = builder.objectRef<SpendingGroup>('SpendingGroup').implement({
  description: 'What the account spent on one host or page.',
  fields: (t) => ({
    key: t.exposeString('key', { description: 'The host, or the URL of the page.' }),
    sums: t.field({ type: SumsType, description: 'What it comes to.', resolve: (group) => group }),
  }),
});

const GroupByName = builder.enumType('SpendingGroupBy', {
  description: 'What spending is added up by.',
  values: named<SpendingGroupBy>({ host: 'By host.', page: 'By page, by its URL.' }),
});

const SpendingFilterInput = builder.inputType('SpendingFilter', {
  description: 'Which payments; everything given must hold.',
  fields: (t) => ({
    window: t.field({ type: WindowInput, description: 'When they were taken in.' }),
    host: t.string({ description: 'On this host.', validate: filterText }),
    resource: t.string({ description: 'This page, by its URL.', validate: filterText }),
    outcome: t.field({ type: OutcomeName, description: 'Of which this became.' }),
  }),
});

interface GivenFilter extends Omit<SpendingFilter, 'window'> {
  readonly window?: GivenWindow;
}

function filterOf(given: GivenFilter | null | undefined, nowMs: number): SpendingFilter {
  const { window, host, ...rest } = given ?? {};
  const { fromMs, toMs } = askedWindow(window, nowMs);
  return { ...rest, host: hostFilter(host), window: { fromMs: fromMs ?? 0, toMs } };
}

/** Most groups of an answer. */
const MOST_GROUPS_SHOWN = MOST_OF['BuyerAccount.spendingBy'];
const SUM_ADVICE = 'to add this up takes too long: give a shorter window';

const SpendingConnection = connectionOf(SpendingType, 'Spending', 'payments of an account');

builder.objectFields(BuyerAccount, (t) => ({
  spending: t.field({
    type: SpendingConnection,
    description: 'What it spent, payment by payment, over all sites.',
    complexity: listCost,
    args: {
      ...pageArgs,
      filter: t.arg({ type: SpendingFilterInput, description: 'Which ones.' }),
      orderBy: t.arg({ type: TimeOrder, defaultValue: 'NEWEST', description: 'In which order.' }),
    },
    resolve: ({ accountId }, { filter, orderBy, ...page }, { deps }) => {
      const request = pageRequest(page, orderBy ?? 'NEWEST');
      return findPage(request, () => spendingOf.page(deps, accountId, filterOf(filter, deps.clock()), request));
    },
  }),
  spendingSums: t.field({
    type: SumsType,
    description: 'What it spent, added up.',
    complexity: REPORT_COST,
    args: { filter: t.arg({ type: SpendingFilterInput, description: 'Which payments.' }) },
    resolve: ({ accountId }, { filter }, { deps }) =>
      advising(SUM_ADVICE, () => readSpendingSums(deps, accountId, filterOf(filter, deps.clock()))),
  }),
  spendingBy: t.field({
    type: [GroupType],
    description: 'What it spent by host or page, the dearest hundred first.',
    complexity: REPORT_COST,
    args: {
      groupBy: t.arg({ type: GroupByName, required: true, description: 'By what.' }),
      filter: t.arg({ type: SpendingFilterInput, description: 'Which payments.' }),
    },
    resolve: ({ accountId }, { filter, groupBy }, { deps }) =>
      advising(SUM_ADVICE, () =>
        readSpendingBy(deps, accountId, filterOf(filter, deps.clock()), { by: groupBy, most: MOST_GROUPS_SHOWN }),
      ),
  }),
}));
