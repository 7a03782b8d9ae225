import { z } from 'zod';
import type { ReadingDeps } from '../../modules/paging/use/deps.ts';
import type { PageRequest } from '../../modules/paging/use/pages.ts';
import { mapPage } from '../../modules/paging/use/pages.ts';
import type { LicencePage, SoldLicence } from '../../modules/reports/use/lists/lists.ts';
import { licencePages, payments, soldLicences } from '../../modules/reports/use/lists/lists.ts';
import { shownWallet } from '../../modules/reports/use/wallet.ts';
import { LIST_COST, ROW_COST } from '../limits/limits.ts';
import { builder } from '../schema/builder.ts';
import type { Connected } from '../schema/connections.ts';
import { connect, connectionOf, findPage, listCost, pageArgs, pageRequest } from '../schema/connections.ts';
import { CrossingKind, LicenceOrder } from '../schema/enums.ts';
import { filterId, filterText, hostFilter, rowId } from '../schema/inputs.ts';
import { eachBy, keyIn } from '../schema/loading.ts';
import { identified, Node } from '../schema/node.ts';
import { namesPages } from '../schema/pageNames.ts';
import { Tenant } from '../schema/site.ts';
import { WindowInput, windowOf } from '../schema/windows.ts';
import { RevokedReasonName } from '../schema/words.ts';
import { PaymentType, SoldLicenceType } from './refs.ts';

type Granted = LicencePage & { readonly host: string };

const LicencePageType = builder.objectRef<Granted>('LicencePage').implement({
  description: 'A page that a licence grants.',
  fields: (t) => ({
    slug: t.exposeString('slug', { description: 'Names the page.' }),
    path: t.exposeString('path', { description: 'Its path when the licence was bought, percent-encoded.' }),
    amountMicro: t.field({ type: 'Micro', description: 'Its part of the price.', resolve: ({ micro }) => micro }),
    micro: t.field({
      type: 'Micro',
      description: 'Its part of the price.',
      resolve: ({ micro }) => micro,
      deprecationReason: 'Use `amountMicro`.',
    }),
  }),
});

namesPages(LicencePageType, ({ path, ...page }) => ({ ...page, paymentId: null, path }));

const LicencePageConnection = connectionOf(LicencePageType, 'LicencePage', 'pages of a licence, by path');

/** A page of each licence's pages, in the order of the licences: those of one site in one statement. */
async function grantedBy(
  deps: ReadingDeps,
  licences: readonly SoldLicence[],
  request: PageRequest,
): Promise<Connected<Granted>[]> {
  const found = new Map<SoldLicence, Connected<Granted>>();
  for (const [tenantId, members] of Map.groupBy(licences, (licence) => licence.tenantId)) {
    const counts = new Map(members.map(({ jti, pages }) => [jti, pages]));
    const values = [...counts.keys()];
    const countOf = (jti: string): number => counts.get(jti) ?? 0;
    const pages = await licencePages.pages(deps, { tenantId, key: 'licence', values, filter: {}, countOf }, request);
    for (const licence of members) {
      const page = pages[values.indexOf(licence.jti)];
      if (page) {
        found.set(licence, connect(mapPage(page, (row) => ({ ...row, host: licence.host }))));
      }
    }
  }
  return licences.map((licence) => found.get(licence) as Connected<Granted>);
}

SoldLicenceType.implement({
  interfaces: [Node],
  description: 'A licence the site sold over a scope of pages for a period.',
  fields: (t) => ({
    jti: t.exposeID('jti', { description: 'Its id, `jti` of the API.' }),
    accountId: t.exposeID('accountId', { description: 'The buyer account it belongs to.' }),
    host: t.exposeString('host', { description: 'The host it is for.' }),
    patterns: t.exposeStringList('patterns', { description: 'The scope as it was asked for.' }),
    terms: t.exposeStringList('terms', { description: 'What the pages may be used for.' }),
    kind: t.field({ type: CrossingKind, description: 'Read or citation.', resolve: ({ kind }) => kind }),
    pages: t.exposeInt('pages', { description: 'How many pages it grants.' }),
    pagesGranted: t.loadable({
      type: LicencePageConnection,
      description: 'Which pages it grants, by path.',
      complexity: listCost,
      args: pageArgs,
      byPath: true,
      load: (licences: SoldLicence[], { deps }, page) => grantedBy(deps, licences, pageRequest(page, 'PATH')),
      resolve: (licence) => licence,
    }),
    from: t.field({ type: 'EpochMs', description: 'When it begins.', resolve: ({ periodFrom }) => periodFrom }),
    until: t.field({ type: 'EpochMs', description: 'When it ends.', resolve: ({ periodUntil }) => periodUntil }),
    amountMicro: t.field({ type: 'Micro', description: 'Its price.', resolve: ({ priceMicro }) => priceMicro }),
    micro: t.field({
      type: 'Micro',
      description: 'Its price.',
      resolve: ({ priceMicro }) => priceMicro,
      deprecationReason: 'Use `amountMicro`.',
    }),
    holder: t.string({
      nullable: true,
      description: 'The key that must prove itself, where the buyer asked for that.',
      resolve: ({ holder }) => (holder === null ? null : shownWallet(holder)),
    }),
    boughtAt: t.field({ type: 'EpochMs', description: 'When it was bought.', resolve: ({ boughtAt }) => boughtAt }),
    revokedAt: t.field({
      type: 'EpochMs',
      nullable: true,
      description: 'When it was revoked.',
      resolve: ({ revokedAt }) => revokedAt,
    }),
    revokedReason: t.field({
      type: RevokedReasonName,
      nullable: true,
      description: 'Why it was revoked.',
      resolve: ({ revokedReason }) => revokedReason,
    }),
    payment: t.loadable({
      type: PaymentType,
      nullable: true,
      description: 'The payment that bought it.',
      complexity: ROW_COST,
      load: eachBy(payments, 'id'),
      resolve: (licence) => keyIn(licence, licence.paymentId),
    }),
  }),
});

identified(SoldLicenceType, {
  reads: 'earnings.read.all',
  isRowId: true,
  idOf: ({ jti }) => jti,
  find: ({ deps }, site, id) => soldLicences.find(deps, site.tenantId, { id, window: windowOf(site, null, deps.clock()) }),
});

const DAY_MS = 86_400_000;

const SoldLicenceFilter = builder.inputType('SoldLicenceFilter', {
  description: 'Which licences; everything given must hold.',
  fields: (t) => ({
    window: t.field({ type: WindowInput, description: 'When they were bought.' }),
    inForce: t.boolean({ description: 'True: those in force now and not revoked.' }),
    endsWithinDays: t.int({
      description: 'Those in force that end within so many days of 24 hours from now.',
      validate: z.int().min(1, 'must be at least 1').max(3_660, 'is too long').nullish(),
    }),
    host: t.string({ description: 'For this host.', validate: filterText }),
    kind: t.field({ type: CrossingKind, description: 'For reads or citations alone.' }),
    accountId: t.id({ description: 'Of this buyer account.' }),
    minMicro: t.field({ type: 'Micro', description: 'Of at least this price.' }),
    maxMicro: t.field({ type: 'Micro', description: 'Of at most this price.' }),
  }),
});

const SoldLicenceConnection = connectionOf(SoldLicenceType, 'SoldLicence', 'licences');

builder.objectFields(Tenant, (t) => ({
  licencesSold: t.field({
    type: SoldLicenceConnection,
    nullable: true,
    description: 'Licences the site sold. Scope earnings.read.all.',
    authScopes: { reads: 'earnings.read.all' },
    complexity: listCost,
    args: {
      ...pageArgs,
      filter: t.arg({ type: SoldLicenceFilter, description: 'Which ones.' }),
      orderBy: t.arg({ type: LicenceOrder, defaultValue: 'NEWEST', description: 'In which order.' }),
    },
    resolve: async (site, { filter, orderBy, ...page }, { deps }) => {
      const { window, inForce, endsWithinDays, accountId, host, ...rest } = filter ?? {};
      const request = pageRequest(page, orderBy ?? 'NEWEST');
      const nowMs = deps.clock();
      const which = {
        ...rest,
        host: hostFilter(host),
        accountId: filterId(accountId, 'accountId'),
        window: windowOf(site, window, nowMs),
        ...(inForce || endsWithinDays ? { inForceAtMs: nowMs } : {}),
        ...(endsWithinDays ? { untilMs: nowMs + endsWithinDays * DAY_MS } : {}),
      };
      return findPage(request, () => soldLicences.page(deps, site.tenantId, which, request));
    },
  }),
  licenceSold: t.field({
    type: SoldLicenceType,
    nullable: true,
    description: 'One licence by its id; null when the site sold none of that id. Scope earnings.read.all.',
    authScopes: { reads: 'earnings.read.all' },
    complexity: LIST_COST,
    args: { jti: t.arg.id({ required: true, description: 'Its id.' }) },
    resolve: (site, { jti }, { deps }) => {
      const id = rowId(jti);
      return id === null ? null : soldLicences.find(deps, site.tenantId, { id, window: windowOf(site, null, deps.clock()) });
    },
  }),
}));
