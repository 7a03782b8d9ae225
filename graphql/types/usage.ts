import { z } from 'zod';
import { TERMS } from '../../modules/kernel/licence/period.ts';
import { mapPage, pageOf } from '../../modules/paging/use/pages.ts';
import type { UsageBesideSales, UsageReportShown, UsedPage, UseSum } from '../../modules/storefront/use/usage/besideSales.ts';
import { readUsageBesideSales, usageReports, usesOfLicences } from '../../modules/storefront/use/usage/besideSales.ts';
import { REPORT_COST, ROW_COST } from '../limits/limits.ts';
import { builder } from '../schema/builder.ts';
import { connect, connectionOf, findPage, listCost, pageArgs, pageRequest } from '../schema/connections.ts';
import { TimeOrder } from '../schema/enums.ts';
import { filterId, filterText, hostFilter } from '../schema/inputs.ts';
import { keyIn, loadBySite } from '../schema/loading.ts';
import { identified, Node } from '../schema/node.ts';
import type { OfPage } from '../schema/pageNames.ts';
import { groupNamer, namesPages } from '../schema/pageNames.ts';
import { Tenant } from '../schema/site.ts';
import { askedWindow, Report, WindowInput, windowOf } from '../schema/windows.ts';
import { SoldLicenceType } from './refs.ts';

const ReportedUse = builder.objectRef<UseSum>('ReportedUse').implement({
  description: 'What buyers say they used something for. Nobody checked it, and it is no money.',
  fields: (t) => ({
    use: t.exposeString('use', { description: `The use: one of ${TERMS.join(', ')}.` }),
    reports: t.exposeInt('reports', { description: 'How many reports say so.' }),
    count: t.exposeFloat('count', { description: 'How many uses they tell of, a whole number.' }),
    outside: t.exposeFloat('outside', { description: 'How many of these uses the terms of the licence do not allow.' }),
  }),
});

const UsageReportType = builder.objectRef<UsageReportShown>('UsageReport').implement({
  interfaces: [Node],
  description: 'One report of a buyer about its use of a page. Nobody checked it, and it is no money.',
  fields: (t) => ({
    licenceJti: t.exposeID('licenceJti', {
      description: 'The licence, or the re-read licence of one page, that gave the right.',
    }),
    host: t.exposeString('host', { description: 'The host of the page.' }),
    slug: t.exposeString('slug', { description: 'The page.' }),
    use: t.exposeString('use', { description: `The use: one of ${TERMS.join(', ')}.` }),
    count: t.exposeInt('count', { description: 'How many such uses.' }),
    withinTerms: t.boolean({
      nullable: true,
      description: 'Whether the terms of the licence allow it; null for a page bought alone, which has no terms.',
      resolve: ({ withinTerms }) => withinTerms,
    }),
    at: t.field({ type: 'EpochMs', description: 'When, as the buyer says.', resolve: ({ at }) => at }),
    reportedAt: t.field({ type: 'EpochMs', description: 'When it was reported.', resolve: ({ reportedAt }) => reportedAt }),
  }),
});

namesPages(UsageReportType, ({ tenantId, host, slug }) => ({ tenantId, host, slug, paymentId: null }));

identified(UsageReportType, {
  reads: 'earnings.read.all',
  isRowId: true,
  idOf: ({ reportId }) => reportId,
  find: ({ deps }, site, id) => usageReports.find(deps, site.tenantId, { id, window: windowOf(site, null, deps.clock()) }),
});

builder.objectField(SoldLicenceType, 'reportedUse', (t) =>
  t.loadableList({
    type: ReportedUse,
    description: 'What its buyer says it used the pages for, by use; none where it reported nothing.',
    complexity: ROW_COST,
    load: (keys: string[], { deps }) => loadBySite(keys, (tenantId, jtis) => usesOfLicences(deps, tenantId, jtis)),
    resolve: (licence) => keyIn(licence, licence.jti),
  }),
);

const UsedPageType = builder.objectRef<UsedPage & OfPage>('UsedPage').implement({
  description: 'A page that buyers report to have used, beside what of it was sold.',
  fields: (t) => ({
    slug: t.exposeString('slug', { description: 'The page.' }),
    reportedUse: t.field({ type: [ReportedUse], description: 'What it was used for, by use.', resolve: ({ uses }) => [...uses] }),
    reads: t.exposeInt('reads', { description: 'Reads of the page that were sold in the window.' }),
    citations: t.exposeInt('citations', { description: 'Citations of the page that were sold in the window.' }),
  }),
});

namesPages(UsedPageType, ({ page }) => page);

const UsedPageConnection = connectionOf(UsedPageType, 'UsedPage', 'pages, the most used first');

interface UsageShown extends UsageBesideSales {
  readonly named: (slug: string) => OfPage;
}

const UsageType = builder.objectRef<UsageShown>('Usage').implement({
  description: 'What buyers report to have used in a window, beside what was sold.',
  interfaces: [Report],
  fields: (t) => ({
    pages: t.field({
      type: UsedPageConnection,
      description: 'The pages, the most used first: 1,000 at most.',
      complexity: listCost,
      args: pageArgs,
      resolve: ({ pages, named }, page) => {
        const request = pageRequest(page, 'LARGEST');
        const found = pageOf(pages, ({ slug }) => slug, request);
        return connect(mapPage(found, (row) => ({ ...row, ...named(row.slug) })));
      },
    }),
  }),
});

const UsageFilterInput = builder.inputType('UsageFilter', {
  description: 'Which reports of use; everything given must hold.',
  fields: (t) => ({
    window: t.field({ type: WindowInput, description: 'When the use was.' }),
    host: t.string({ description: 'On this host.', validate: filterText }),
    slug: t.string({ description: 'Of this page.', validate: filterText }),
    use: t.string({
      description: `For this use: one of ${TERMS.join(', ')}.`,
      validate: z
        .string()
        .refine((text) => TERMS.some((term) => term === text), `must be one of ${TERMS.join(', ')}`)
        .nullish(),
    }),
    licenceJti: t.id({ description: 'Under this licence.' }),
    withinTerms: t.boolean({ description: 'Allowed by the terms of the licence, or not.' }),
  }),
});

const UsageReportConnection = connectionOf(UsageReportType, 'UsageReport', 'reports of use');

builder.objectFields(Tenant, (t) => ({
  usage: t.field({
    type: UsageType,
    nullable: true,
    description: 'What buyers report to have used, page by page, beside what was sold. Scope earnings.read.all.',
    authScopes: { reads: 'earnings.read.all' },
    complexity: REPORT_COST,
    args: {
      window: t.arg({ type: WindowInput, description: 'When.' }),
      host: t.arg.string({ description: 'Only on this host.', validate: filterText }),
    },
    resolve: async (site, { window, host }, { deps }) => {
      const asked = { ...askedWindow(window, deps.clock()), host: hostFilter(host) };
      return { ...(await readUsageBesideSales(deps, site, asked)), named: groupNamer(site, true, host) };
    },
  }),
  usageReports: t.field({
    type: UsageReportConnection,
    nullable: true,
    description: 'What buyers report of their use, report by report. Scope earnings.read.all.',
    authScopes: { reads: 'earnings.read.all' },
    complexity: listCost,
    args: {
      ...pageArgs,
      filter: t.arg({ type: UsageFilterInput, description: 'Which ones.' }),
      orderBy: t.arg({ type: TimeOrder, defaultValue: 'NEWEST', description: 'In which order.' }),
    },
    resolve: (site, { filter, orderBy, ...page }, { deps }) => {
      const { window, host, licenceJti, ...rest } = filter ?? {};
      const request = pageRequest(page, orderBy ?? 'NEWEST');
      const which = {
        ...rest,
        host: hostFilter(host),
        licenceJti: filterId(licenceJti, 'licenceJti'),
        window: windowOf(site, window, deps.clock()),
      };
      return findPage(request, () => usageReports.page(deps, site.tenantId, which, request));
    },
  }),
}));
