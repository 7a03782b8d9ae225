import { transactionUrl } from '../../modules/kernel/explorer.ts';
import type { Payment } from '../../modules/reports/use/lists/lists.ts';
import { batchesOf, crossings, observations, payments, soldLicences } from '../../modules/reports/use/lists/lists.ts';
import { shownWallet } from '../../modules/reports/use/wallet.ts';
import { LIST_COST, ROW_COST } from '../limits/limits.ts';
import { MOST_OF } from '../limits/lists.ts';
import { builder } from '../schema/builder.ts';
import { connectionOf, findPage, listCost, pageArgs, pageRequest } from '../schema/connections.ts';
import { AmountOrder, CrossingKind, FailureReason, PaymentMode, PaymentPurpose, PaymentState } from '../schema/enums.ts';
import { filterHex, filterText, hostFilter, lower, rowId } from '../schema/inputs.ts';
import { eachBy, groupsBy, keyIn, loadBySite } from '../schema/loading.ts';
import { identified, Node } from '../schema/node.ts';
import { namesPages } from '../schema/pageNames.ts';
import { Tenant } from '../schema/site.ts';
import { WindowInput, windowOf } from '../schema/windows.ts';
import { PayerKindName, SettlerName } from '../schema/words.ts';
import { CrossingType, ObservationType, PaymentType, SoldLicenceType } from './refs.ts';
import { BatchType } from './reports/batches.ts';

const Evidence = builder.objectRef<Payment & { readonly txHash: string }>('Evidence').implement({
  description: 'What the chain shows for a payment: the transfer that moved its money.',
  fields: (t) => ({
    network: t.exposeString('network', { description: 'The chain (CAIP-2).' }),
    txHash: t.exposeString('txHash', { description: 'The transaction.' }),
    explorerUrl: t.string({
      nullable: true,
      description: 'Where people look at the transaction; null where no explorer of the network is known.',
      resolve: ({ network, txHash }) => transactionUrl(network, txHash),
    }),
    logPosition: t.exposeInt('logPosition', {
      nullable: true,
      description: 'The transfer’s place among its transaction’s logs.',
    }),
    blockNumber: t.string({
      nullable: true,
      description: 'The block.',
      resolve: ({ blockNumber }) => blockNumber?.toString() ?? null,
    }),
    blockTime: t.field({
      type: 'EpochMs',
      nullable: true,
      description: 'The time of the block.',
      resolve: ({ blockTime }) => blockTime,
    }),
    finalAt: t.field({
      type: 'EpochMs',
      nullable: true,
      description: 'When the block was seen to be final; null until then.',
      resolve: ({ finalAt }) => finalAt,
    }),
  }),
});

PaymentType.implement({
  interfaces: [Node],
  description: 'One authorization the service was asked to settle, its state and its evidence. Signatures are not shown.',
  fields: (t) => ({
    paymentId: t.exposeID('paymentId', { description: 'Its id.' }),
    state: t.field({ type: PaymentState, description: 'Where it stands.', resolve: ({ state }) => state }),
    mode: t.field({ type: PaymentMode, description: 'Live or mock.', resolve: ({ mode }) => mode }),
    purpose: t.field({ type: PaymentPurpose, description: 'What it buys.', resolve: ({ purpose }) => purpose }),
    settler: t.field({ type: SettlerName, description: 'Who sends it.', resolve: ({ settler }) => settler }),
    host: t.exposeString('host', { description: 'The host of what it buys.' }),
    slug: t.exposeString('slug', { description: 'The page.' }),
    resource: t.exposeString('resource', { description: 'The full URL of what it buys.' }),
    kind: t.field({ type: CrossingKind, description: 'Read or citation.', resolve: ({ kind }) => kind }),
    amountMicro: t.field({ type: 'Micro', description: 'Its amount.', resolve: ({ amountMicro }) => amountMicro }),
    micro: t.field({
      type: 'Micro',
      description: 'Its amount.',
      resolve: ({ amountMicro }) => amountMicro,
      deprecationReason: 'Use `amountMicro`.',
    }),
    network: t.exposeString('network', { description: 'The chain (CAIP-2).' }),
    asset: t.string({ description: 'The token.', resolve: ({ asset }) => shownWallet(asset) }),
    payer: t.string({ description: 'Who signed it.', resolve: ({ payer }) => shownWallet(payer) }),
    payTo: t.string({
      description: 'Who must receive it: a wallet or a legs split.',
      resolve: ({ payTo }) => shownWallet(payTo),
    }),
    nonce: t.exposeString('nonce', { description: 'The authorization’s nonce; it can be spent only once.' }),
    validAfter: t.exposeString('validAfter', { description: 'Seconds since 1970 after which it may be sent.' }),
    validBefore: t.exposeString('validBefore', { description: 'Seconds since 1970 before which it must be mined.' }),
    lane: t.field({
      type: PayerKindName,
      description: 'With which others it shares a batch.',
      resolve: ({ payerKind }) => payerKind,
    }),
    x402Version: t.exposeInt('x402Version', { description: 'The version of x402 it was written in.' }),
    agentUa: t.exposeString('agentUa', { nullable: true, description: 'The User-Agent it came with.' }),
    attempts: t.exposeInt('attempts', { description: 'How often it was put into a batch.' }),
    reason: t.field({ type: FailureReason, nullable: true, description: 'Why it failed.', resolve: ({ reason }) => reason }),
    rawReason: t.exposeString('rawReason', { nullable: true, description: 'The reason in the words of x402 or of the chain.' }),
    sentence: t.exposeString('sentence', { nullable: true, description: 'The reason as the payer was told.' }),
    acceptedAt: t.field({ type: 'EpochMs', description: 'When it was stored.', resolve: ({ acceptedAt }) => acceptedAt }),
    decidedAt: t.field({
      type: 'EpochMs',
      nullable: true,
      description: 'When it was settled or failed.',
      resolve: ({ decidedAt }) => decidedAt,
    }),
    reviewClosedAt: t.field({
      type: 'EpochMs',
      nullable: true,
      description: 'When a person ended its review, since no evidence will decide it; null otherwise.',
      resolve: ({ reviewClosedAt }) => reviewClosedAt,
    }),
    evidence: t.field({
      type: Evidence,
      nullable: true,
      description: 'What the chain shows; null until it does, and for mock payments.',
      resolve: (payment) => (payment.txHash === null ? null : { ...payment, txHash: payment.txHash }),
    }),
  }),
});

builder.objectFields(PaymentType, (t) => ({
  batch: t.loadable({
    type: BatchType,
    nullable: true,
    description: 'What it went out in; null before that, and for one that another party sent.',
    complexity: ROW_COST,
    load: (keys: string[], { deps }) => loadBySite(keys, (tenantId, ids) => batchesOf(deps, tenantId, ids)),
    resolve: (payment) => (payment.batchId === null ? null : keyIn(payment, payment.batchId)),
  }),
  successor: t.loadable({
    type: PaymentType,
    nullable: true,
    description: 'The payment whose receipt answers for this superseded one.',
    complexity: ROW_COST,
    load: eachBy(payments, 'id'),
    resolve: (payment) => (payment.successorId === null ? null : keyIn(payment, payment.successorId)),
  }),
  crossings: t.loadableList({
    type: CrossingType,
    description: 'What it wrote into the ledger, corrections included; 5 at most.',
    load: groupsBy(crossings, 'payment', MOST_OF['Payment.crossings']),
    resolve: (payment) => keyIn(payment, payment.paymentId),
  }),
  observations: t.loadableList({
    type: ObservationType,
    nullable: true,
    description: 'What was observed of it, 100 at most. Scope audit.read.',
    authScopes: { reads: 'audit.read' },
    load: groupsBy(observations, 'payment', MOST_OF['Payment.observations']),
    resolve: (payment) => keyIn(payment, payment.paymentId),
  }),
  licence: t.loadable({
    type: SoldLicenceType,
    nullable: true,
    description: 'The licence it bought.',
    complexity: ROW_COST,
    load: eachBy(soldLicences, 'payment'),
    resolve: (payment) => (payment.purpose === 'licence' ? keyIn(payment, payment.paymentId) : null),
  }),
}));

identified(PaymentType, {
  reads: 'earnings.read.all',
  isRowId: true,
  idOf: ({ paymentId }) => paymentId,
  find: ({ deps }, site, id) => payments.find(deps, site.tenantId, { id, window: windowOf(site, null, deps.clock()) }),
});

namesPages(PaymentType, (payment) => (payment.purpose === 'page' ? payment : null));

const PaymentFilter = builder.inputType('PaymentFilter', {
  description: 'Which payments; everything given must hold.',
  fields: (t) => ({
    window: t.field({ type: WindowInput, description: 'When they were stored.' }),
    states: t.field({ type: [PaymentState], description: 'In one of these states.' }),
    reason: t.field({ type: FailureReason, description: 'Failed for this reason.' }),
    host: t.string({ description: 'For this host.', validate: filterText }),
    slug: t.string({ description: 'For this page.', validate: filterText }),
    kind: t.field({ type: CrossingKind, description: 'For reads or citations alone.' }),
    purpose: t.field({ type: PaymentPurpose, description: 'For pages or licences alone.' }),
    mode: t.field({ type: PaymentMode, description: 'Live or mock alone.' }),
    author: t.string({ description: 'That pay this wallet.', validate: filterHex }),
    authorId: t.string({ description: 'With a leg that names this author.', validate: filterText }),
    agentUa: t.string({ description: 'By the agent that gave exactly this User-Agent.', validate: filterText }),
    payer: t.string({ description: 'Signed by this address.', validate: filterHex }),
    txHash: t.string({ description: 'Settled by this transaction.', validate: filterHex }),
    minMicro: t.field({ type: 'Micro', description: 'Of at least this amount.' }),
    maxMicro: t.field({ type: 'Micro', description: 'Of at most this amount.' }),
  }),
});

const PaymentConnection = connectionOf(PaymentType, 'Payment', 'payments');

builder.objectFields(Tenant, (t) => ({
  payments: t.field({
    type: PaymentConnection,
    nullable: true,
    description: 'Payments with their state and evidence. Scope earnings.read.all.',
    authScopes: { reads: 'earnings.read.all' },
    complexity: listCost,
    args: {
      ...pageArgs,
      filter: t.arg({ type: PaymentFilter, description: 'Which ones.' }),
      orderBy: t.arg({ type: AmountOrder, defaultValue: 'NEWEST', description: 'In which order.' }),
    },
    resolve: async (site, { filter, orderBy, ...page }, { deps }) => {
      const { window, host, author, payer, txHash, ...rest } = filter ?? {};
      const request = pageRequest(page, orderBy ?? 'NEWEST');
      const which = {
        ...rest,
        host: hostFilter(host),
        author: lower(author),
        payer: lower(payer),
        txHash: lower(txHash),
        window: windowOf(site, window, deps.clock()),
      };
      return findPage(request, () => payments.page(deps, site.tenantId, which, request));
    },
  }),
  payment: t.field({
    type: PaymentType,
    nullable: true,
    description: 'One payment by its id; null when the site has none of that id. Scope earnings.read.all.',
    authScopes: { reads: 'earnings.read.all' },
    complexity: LIST_COST,
    args: { paymentId: t.arg.id({ required: true, description: 'Its id.' }) },
    resolve: (site, { paymentId }, { deps }) => {
      const id = rowId(paymentId);
      return id === null ? null : payments.find(deps, site.tenantId, { id, window: windowOf(site, null, deps.clock()) });
    },
  }),
}));
