import type { CrawlerPolicy, EnforcementSettings } from '../../modules/gate/rules/enforcement.ts';
import type { ClassPolicy, VisitorClass } from '../../modules/gate/rules/visitors.ts';
import { DEFAULT_CLASSES, VISITOR_CLASSES } from '../../modules/gate/rules/visitors.ts';
import type { PeriodFactor } from '../../modules/kernel/licence/period.ts';
import { mapPage } from '../../modules/paging/use/pages.ts';
import { readReceiptsPublic } from '../../modules/receipts/use/shown.ts';
import type { ImportedPage } from '../../modules/reports/use/lists/lists.ts';
import { importedPages } from '../../modules/reports/use/lists/lists.ts';
import type { LicenceRules } from '../../modules/reports/use/siteSettings.ts';
import { readAlertAddress, readGate, readLicenceRules, readNetworks } from '../../modules/reports/use/siteSettings.ts';
import { readLegalDetails } from '../../modules/tenants/use/legal.ts';
import { choiceOf } from '../../modules/tenants/use/manageNetworks.ts';
import { ROW_COST } from '../limits/limits.ts';
import { requireReader } from '../request/access.ts';
import { builder } from '../schema/builder.ts';
import { connectionOf, findPage, listCost, pageArgs, pageRequest } from '../schema/connections.ts';
import { ClassPolicyName, GateMode, VisitorClassName } from '../schema/enums.ts';
import { filterText } from '../schema/inputs.ts';
import { identified, Node } from '../schema/node.ts';
import { Tenant } from '../schema/site.ts';
import { WindowInput, windowOf } from '../schema/windows.ts';
import { NetworkChoiceType } from './networks.ts';

const CrawlerPolicyType = builder.objectRef<CrawlerPolicy>('CrawlerPolicy').implement({
  description: 'What becomes of crawlers by fragments of their User-Agent, lower case: block before allow before charge.',
  fields: (t) => ({
    allow: t.stringList({ description: 'Fragments that read free.', resolve: ({ allow }) => [...allow] }),
    charge: t.stringList({ description: 'Fragments that pay.', resolve: ({ charge }) => [...charge] }),
    block: t.stringList({ description: 'Fragments that are refused.', resolve: ({ block }) => [...block] }),
  }),
});

const ClassRuleType = builder
  .objectRef<{ readonly visitorClass: VisitorClass; readonly policy: ClassPolicy }>('VisitorClassRule')
  .implement({
    description: 'What becomes of a class of visitors.',
    fields: (t) => ({
      visitorClass: t.expose('visitorClass', { type: VisitorClassName, description: 'Which class.' }),
      policy: t.expose('policy', { type: ClassPolicyName, description: 'What becomes of it.' }),
      usual: t.field({
        type: ClassPolicyName,
        description: 'What becomes of it until an owner decides otherwise.',
        resolve: ({ visitorClass }) => DEFAULT_CLASSES[visitorClass],
      }),
    }),
  });

const GateType = builder.objectRef<EnforcementSettings>('Gate').implement({
  description: 'What the gate of the site decides by before it prices anything, as setGateScope and its siblings set it.',
  fields: (t) => ({
    mode: t.field({ type: GateMode, description: 'What it looks at.', resolve: ({ gateScope }) => gateScope.mode }),
    excludePrefixes: t.stringList({
      description: 'Paths it leaves alone in the mode `SITE`.',
      resolve: ({ gateScope }) => (gateScope.mode === 'site' ? [...gateScope.excludePrefixes] : []),
    }),
    includeExtensions: t.stringList({
      nullable: true,
      description: 'The only files it looks at in the mode `SITE`, by extension; null: all.',
      resolve: ({ gateScope }) =>
        gateScope.mode === 'site' && gateScope.includeExtensions ? [...gateScope.includeExtensions] : null,
    }),
    forms: t.stringList({
      description: 'What other addresses of an article add to its own, such as `.md` and `/amp`; they have its price.',
      resolve: ({ forms }) => [...forms],
    }),
    seoAllowlist: t.stringList({
      description: 'Fragments of the User-Agents of search engines that read free.',
      resolve: ({ seoAllowlist }) => [...seoAllowlist],
    }),
    crawlerPolicy: t.field({
      type: CrawlerPolicyType,
      description: 'What becomes of crawlers.',
      resolve: ({ crawlerPolicy }) => crawlerPolicy,
    }),
    visitorClasses: t.field({
      type: [ClassRuleType],
      description: 'What becomes of visitors that none of the lists names, by class; every class.',
      resolve: ({ visitorClasses }) =>
        VISITOR_CLASSES.map((visitorClass) => ({ visitorClass, policy: visitorClasses[visitorClass] })),
    }),
  }),
});

const PeriodFactorType = builder.objectRef<PeriodFactor>('PeriodFactor').implement({
  description: 'What a licence period costs.',
  fields: (t) => ({
    upToDays: t.exposeFloat('upToDays', { description: 'For periods of at most so many days; the last one also beyond.' }),
    factor: t.exposeString('factor', { description: 'How many single prices each page costs then, a decimal.' }),
  }),
});

const LicenceOfferingType = builder.objectRef<LicenceRules>('LicenceOffering').implement({
  description: 'What the site sells as a licence over a scope of pages, as setLicenceOffering sets it.',
  fields: (t) => ({
    sellsTraining: t.exposeBoolean('sellsTraining', { description: 'Whether `ai-train` and `all` are sold.' }),
    periodFactors: t.field({
      type: [PeriodFactorType],
      nullable: true,
      description: 'What periods cost, the shortest first; null: 1 up to 30 days, half a price more per further 30.',
      resolve: ({ periodFactors }) => periodFactors,
    }),
  }),
});

/** A page of the catalogue. */
export const PageType = builder.objectRef<ImportedPage & { readonly host: string | null }>('Page');

identified(PageType, {
  reads: 'tenant.read',
  idOf: ({ slug }) => slug,
  find: async ({ deps }, site, slug) => {
    const page = await importedPages.find(deps, site.tenantId, { slug });
    return page && { ...page, host: site.hosts[0] ?? null };
  },
});

PageType.implement({
  interfaces: [Node],
  description: 'A page of the catalogue that the owner imported; the pages of `creditsInline` are in it as well.',
  fields: (t) => ({
    slug: t.exposeString('slug', { description: 'Names the page.' }),
    path: t.exposeString('path', { description: 'Its path on the site.' }),
    title: t.exposeString('title', { nullable: true, description: 'Its title.' }),
    url: t.string({
      nullable: true,
      description: 'Its URL on the site’s first host; null: no host is proven.',
      resolve: ({ host, path }) => (host === null ? null : `https://${host}${path}`),
    }),
    credits: t.exposeString('credits', {
      nullable: true,
      description: 'JSON text of who is paid for it; null: nobody, so no scope that includes it is sold.',
    }),
    importedAt: t.field({
      type: 'EpochMs',
      description: 'When it was imported last.',
      resolve: ({ importedAt }) => importedAt,
    }),
  }),
});

const PageFilter = builder.inputType('PageFilter', {
  description: 'Which pages; everything given must hold.',
  fields: (t) => ({
    slug: t.string({ description: 'Of this slug.', validate: filterText }),
    under: t.string({ description: 'Whose path begins so.', validate: filterText }),
    unsoldIn: t.field({
      type: WindowInput,
      description: 'Of which nothing was sold in this window by itself, reversed sales left out. Scope earnings.read.all.',
    }),
  }),
});

const PageConnection = connectionOf(PageType, 'Page', 'imported pages, by path');

builder.objectFields(Tenant, (t) => ({
  gate: t.field({
    type: GateType,
    nullable: true,
    description: 'What its gate decides by: scope, search engines, crawler policy. Scope tenant.read.',
    authScopes: { reads: 'tenant.read' },
    complexity: ROW_COST,
    resolve: (site, _args, { deps }) => readGate(deps, site.tenantId),
  }),
  licenceOffering: t.field({
    type: LicenceOfferingType,
    nullable: true,
    description: 'What it sells as a licence over a scope of pages. Scope tenant.read.',
    authScopes: { reads: 'tenant.read' },
    complexity: ROW_COST,
    resolve: (site, _args, { deps }) => readLicenceRules(deps, site.tenantId),
  }),
  networks: t.field({
    type: NetworkChoiceType,
    nullable: true,
    description: 'On which chains it takes payments. Scope tenant.read.',
    authScopes: { reads: 'tenant.read' },
    complexity: ROW_COST,
    resolve: async (site, _args, { deps }) => choiceOf(deps.networkIds, await readNetworks(deps, site.tenantId)),
  }),
  receiptsPublic: t.boolean({
    nullable: true,
    description: 'Whether anyone who has the id of a payment’s record may read it. Scope tenant.read.',
    authScopes: { reads: 'tenant.read' },
    complexity: ROW_COST,
    resolve: (site, _args, { deps }) => readReceiptsPublic(deps, site.tenantId),
  }),
  legalName: t.string({
    nullable: true,
    description: 'Who publishes it, as statements say; null: never given. Scope tenant.read.',
    authScopes: { reads: 'tenant.read' },
    complexity: ROW_COST,
    resolve: async (site, _args, { deps }) => (await readLegalDetails(deps, site.tenantId))?.legalName ?? null,
  }),
  legalAddress: t.string({
    nullable: true,
    description: 'The publisher’s address, as statements say; null: never given. Scope tenant.read.',
    authScopes: { reads: 'tenant.read' },
    complexity: ROW_COST,
    resolve: async (site, _args, { deps }) => (await readLegalDetails(deps, site.tenantId))?.legalAddress ?? null,
  }),
  alertEmail: t.string({
    nullable: true,
    description: 'Where its alerts go by e-mail; null: nowhere. For owners.',
    authScopes: { owner: true },
    complexity: ROW_COST,
    resolve: async (site, _args, { deps }) => (await readAlertAddress(deps, site.tenantId))?.email ?? null,
  }),
  isAlertEmailConfirmed: t.boolean({
    nullable: true,
    description: 'Whether that address has agreed; until then no alert goes there. Null: there is none. For owners.',
    authScopes: { owner: true },
    complexity: ROW_COST,
    resolve: async (site, _args, { deps }) => (await readAlertAddress(deps, site.tenantId))?.isConfirmed ?? null,
  }),
  pages: t.field({
    type: PageConnection,
    nullable: true,
    description: 'Pages the owner imported into the catalogue. Scope tenant.read.',
    authScopes: { reads: 'tenant.read' },
    complexity: listCost,
    args: { ...pageArgs, filter: t.arg({ type: PageFilter, description: 'Which ones.' }) },
    resolve: async (site, { filter, ...page }, context) => {
      const { deps } = context;
      const request = pageRequest(page, 'PATH');
      const [host = null] = site.hosts;
      const { unsoldIn, ...rest } = filter ?? {};
      if (unsoldIn) requireReader(context, 'earnings.read.all');
      const { tenantId } = site;
      const which = unsoldIn ? { ...rest, unsold: { tenantId, window: windowOf(site, unsoldIn, deps.clock()) } } : rest;
      return findPage(request, async () =>
        mapPage(await importedPages.page(deps, tenantId, which, request), (row) => ({ ...row, host })),
      );
    },
  }),
}));
