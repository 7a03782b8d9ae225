import { crossings, legs, legsOfAuthor, payments } from '../../modules/reports/use/lists/lists.ts';
import { shownWallet } from '../../modules/reports/use/wallet.ts';
import { LIST_COST, ROW_COST } from '../limits/limits.ts';
import { MOST_OF } from '../limits/lists.ts';
import { builder } from '../schema/builder.ts';
import { connectionOf, findPage, listCost, pageArgs, pageRequest } from '../schema/connections.ts';
import { AmountOrder, CrossingKind, CrossingPurposeName, LegRole } from '../schema/enums.ts';
import { filterHex, filterText, hostFilter, lower, rowId } from '../schema/inputs.ts';
import { eachBy, groupsBy, keyIn } from '../schema/loading.ts';
import { identified, Node } from '../schema/node.ts';
import { namesPages } from '../schema/pageNames.ts';
import { Tenant } from '../schema/site.ts';
import { WindowInput, windowOf } from '../schema/windows.ts';
import { CrossingType, LegType, PaymentType } from './refs.ts';

/** A crossing and a place among its fifty legs, as the list of legs makes ids. */
const LEG_ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}:000\d{2}$/;

/** What the time of a row is. */
const IN_TIME =
  'The time it counts in: when the payment was taken, or, of a correction and of a sale decided more than an hour later, when it was recorded.';

CrossingType.implement({
  interfaces: [Node],
  description:
    'One settled read or citation in the ledger. Rows never change; a correction is a separate row with a negative amount, of the time it was recorded.',
  fields: (t) => ({
    crossingId: t.exposeID('crossingId', { description: 'Its id; `eventId` of reconciliation in the API.' }),
    sequence: t.exposeInt('sequence', { description: '0, or an odd number for a correction of the crossing before it.' }),
    host: t.exposeString('host', { description: 'The host it was on.' }),
    slug: t.exposeString('slug', { description: 'The page.' }),
    kind: t.field({ type: CrossingKind, description: 'Read or citation.', resolve: ({ kind }) => kind }),
    purpose: t.field({
      type: CrossingPurposeName,
      description: 'What was bought; a licence’s slug is no page.',
      resolve: ({ purpose }) => purpose,
    }),
    amountMicro: t.field({
      type: 'Micro',
      description: 'What was paid; negative in a correction.',
      resolve: ({ micro }) => micro,
    }),
    micro: t.field({
      type: 'Micro',
      description: 'What was paid; negative in a correction.',
      resolve: ({ micro }) => micro,
      deprecationReason: 'Use `amountMicro`.',
    }),
    payer: t.string({ description: 'The address that signed the payment.', resolve: ({ payer }) => shownWallet(payer) }),
    agent: t.exposeString('agent', { description: 'The agent’s label, as in the audit.' }),
    at: t.field({ type: 'EpochMs', description: IN_TIME, resolve: ({ at }) => at }),
    recordedAt: t.field({
      type: 'EpochMs',
      description: 'When the row was written.',
      resolve: ({ recordedAt }) => recordedAt,
    }),
    legs: t.loadableList({
      type: LegType,
      description: 'Who got what of it, in the order of the split; 50 at most.',
      load: groupsBy(legs, 'crossing', MOST_OF['Crossing.legs']),
      resolve: (crossing) => keyIn(crossing, crossing.crossingId),
    }),
    payment: t.loadable({
      type: PaymentType,
      nullable: true,
      description: 'The payment it was settled by.',
      complexity: ROW_COST,
      load: eachBy(payments, 'id'),
      resolve: (crossing) => keyIn(crossing, crossing.paymentId),
    }),
  }),
});

LegType.implement({
  interfaces: [Node],
  description: 'One author’s share of one crossing: a line of a statement.',
  fields: (t) => ({
    toAddress: t.string({ description: 'The wallet that is paid.', resolve: ({ toAddress }) => shownWallet(toAddress) }),
    amountMicro: t.field({
      type: 'Micro',
      description: 'Its amount; negative in a correction.',
      resolve: ({ amountMicro }) => amountMicro,
    }),
    micro: t.field({
      type: 'Micro',
      description: 'Its amount; negative in a correction.',
      resolve: ({ amountMicro }) => amountMicro,
      deprecationReason: 'Use `amountMicro`.',
    }),
    role: t.field({ type: LegRole, description: 'Whose it is.', resolve: ({ role }) => role }),
    authorId: t.exposeString('authorId', { nullable: true, description: 'The author’s id, where the credits named one.' }),
    share: t.exposeFloat('share', { description: 'The author’s part of the price, 0 … 1.' }),
    host: t.exposeString('host', { description: 'The host it was on.' }),
    slug: t.exposeString('slug', { description: 'The page.' }),
    kind: t.field({ type: CrossingKind, description: 'Read or citation.', resolve: ({ kind }) => kind }),
    purpose: t.field({
      type: CrossingPurposeName,
      description: 'What was bought; a licence’s slug is no page.',
      resolve: ({ purpose }) => purpose,
    }),
    at: t.field({ type: 'EpochMs', description: IN_TIME, resolve: ({ at }) => at }),
    crossing: t.loadable({
      type: CrossingType,
      nullable: true,
      description: 'The crossing it is a share of.',
      complexity: ROW_COST,
      load: eachBy(crossings, 'id'),
      resolve: (leg) => keyIn(leg, leg.crossingId),
    }),
  }),
});

identified(CrossingType, {
  reads: 'earnings.read.all',
  isRowId: true,
  idOf: ({ crossingId }) => crossingId,
  find: ({ deps }, site, id) => {
    const window = windowOf(site, null, deps.clock());
    return crossings.find(deps, site.tenantId, { id, window });
  },
});

namesPages(CrossingType, (crossing) => crossing);

identified(LegType, {
  reads: 'earnings.read.all',
  idOf: ({ legId }) => legId,
  find: ({ deps }, site, id) => {
    const window = windowOf(site, null, deps.clock());
    const which = { id, window, includePlatform: true };
    return LEG_ID.test(id) ? legs.find(deps, site.tenantId, which) : null;
  },
});

namesPages(LegType, (leg) => leg);

const CrossingFilter = builder.inputType('CrossingFilter', {
  description: 'Which crossings; everything given must hold.',
  fields: (t) => ({
    window: t.field({ type: WindowInput, description: 'When.' }),
    host: t.string({ description: 'On this host.', validate: filterText }),
    slug: t.string({ description: 'Of this page.', validate: filterText }),
    kind: t.field({ type: CrossingKind, description: 'Reads or citations alone.' }),
    agent: t.string({ description: 'By the agent with this label.', validate: filterText }),
    author: t.string({ description: 'That paid this wallet.', validate: filterHex }),
    authorId: t.string({ description: 'With a leg that names this author.', validate: filterText }),
    purpose: t.field({ type: CrossingPurposeName, description: 'Of pages or licences alone.' }),
    payer: t.string({ description: 'Paid by this address.', validate: filterHex }),
    isCorrection: t.boolean({ description: 'True: rows that take a crossing back; false: all others.' }),
    minMicro: t.field({ type: 'Micro', description: 'Of at least this amount.' }),
    maxMicro: t.field({ type: 'Micro', description: 'Of at most this amount.' }),
  }),
});

const LegFilter = builder.inputType('LegFilter', {
  description: 'Which legs; everything given must hold.',
  fields: (t) => ({
    window: t.field({ type: WindowInput, description: 'When.' }),
    host: t.string({ description: 'On this host.', validate: filterText }),
    slug: t.string({ description: 'Of this page.', validate: filterText }),
    kind: t.field({ type: CrossingKind, description: 'Of reads or citations alone.' }),
    author: t.string({ description: 'To this wallet.', validate: filterHex }),
    authorId: t.string({ description: 'Of the author with this id.', validate: filterText }),
    purpose: t.field({ type: CrossingPurposeName, description: 'Of pages or licences alone.' }),
    includePlatform: t.boolean({ description: 'Also platform legs; otherwise those of authors.' }),
    minMicro: t.field({ type: 'Micro', description: 'Of at least this amount.' }),
    maxMicro: t.field({ type: 'Micro', description: 'Of at most this amount.' }),
  }),
});

const CrossingConnection = connectionOf(CrossingType, 'Crossing', 'crossings');
/** A page of legs. */
export const LegConnection = connectionOf(LegType, 'Leg', 'legs');

builder.objectFields(Tenant, (t) => ({
  crossings: t.field({
    type: CrossingConnection,
    nullable: true,
    description: 'Settled reads and citations. Scope earnings.read.all.',
    authScopes: { reads: 'earnings.read.all' },
    complexity: listCost,
    args: {
      ...pageArgs,
      filter: t.arg({ type: CrossingFilter, description: 'Which ones.' }),
      orderBy: t.arg({ type: AmountOrder, defaultValue: 'NEWEST', description: 'In which order.' }),
    },
    resolve: async (site, { filter, orderBy, ...page }, { deps }) => {
      const { window, host, author, payer, ...rest } = filter ?? {};
      const request = pageRequest(page, orderBy ?? 'NEWEST');
      const which = {
        ...rest,
        host: hostFilter(host),
        author: lower(author),
        payer: lower(payer),
        window: windowOf(site, window, deps.clock()),
      };
      return findPage(request, () => crossings.page(deps, site.tenantId, which, request));
    },
  }),
  crossing: t.field({
    type: CrossingType,
    nullable: true,
    description: 'One crossing by its id; null when the site has none of that id. Scope earnings.read.all.',
    authScopes: { reads: 'earnings.read.all' },
    complexity: LIST_COST,
    args: { crossingId: t.arg.id({ required: true, description: 'Its id.' }) },
    resolve: (site, { crossingId }, { deps }) => {
      const id = rowId(crossingId);
      const window = windowOf(site, null, deps.clock());
      return id === null ? null : crossings.find(deps, site.tenantId, { id, window });
    },
  }),
  legs: t.field({
    type: LegConnection,
    nullable: true,
    description: 'Authors’ shares, line by line. Scope earnings.read.all.',
    authScopes: { reads: 'earnings.read.all' },
    complexity: listCost,
    args: {
      ...pageArgs,
      filter: t.arg({ type: LegFilter, description: 'Which ones.' }),
      orderBy: t.arg({ type: AmountOrder, defaultValue: 'NEWEST', description: 'In which order.' }),
    },
    resolve: async (site, { filter, orderBy, ...page }, { deps }) => {
      const { window, host, author, includePlatform, ...rest } = filter ?? {};
      const request = pageRequest(page, orderBy ?? 'NEWEST');
      const which = {
        ...rest,
        host: hostFilter(host),
        author: lower(author),
        includePlatform: includePlatform ?? false,
        window: windowOf(site, window, deps.clock()),
      };
      const list = which.author === null ? legs : legsOfAuthor;
      return findPage(request, () => list.page(deps, site.tenantId, which, request));
    },
  }),
}));
