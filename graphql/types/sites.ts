import { ServiceError } from '../../modules/kernel/errors.ts';
import { mapPage, pageOf } from '../../modules/paging/use/pages.ts';
import type { SiteEarnings, SitesEarnings } from '../../modules/reports/use/ownedSites.ts';
import { MAX_SUMMED_SITES, readSitesEarnings } from '../../modules/reports/use/ownedSites.ts';
import type { Totals } from '../../modules/reports/use/request.ts';
import { LIST_COST, REPORT_COST, ROW_COST } from '../limits/limits.ts';
import type { GraphqlContext } from '../request/context.ts';
import { builder } from '../schema/builder.ts';
import { connect, connectionOf, listCost, pageArgs, pageRequest } from '../schema/connections.ts';
import type { Site } from '../schema/site.ts';
import { findSite, sitesOf, Tenant } from '../schema/site.ts';
import { askedWindow, Window, WindowInput } from '../schema/windows.ts';
import { EarningsSums } from './reports/earnings.ts';
import { Viewer } from './tenant.ts';

const TenantConnection = connectionOf(Tenant, 'Tenant', 'sites');

const SumType = builder.objectRef<Totals>('SitesTotals').implement({
  description: 'Sums over several sites.',
  interfaces: [EarningsSums],
});

const SiteType = builder.objectRef<SiteEarnings>('SiteEarnings').implement({
  description: 'What one site of the caller earned.',
  interfaces: [EarningsSums],
  fields: (t) => ({
    tenantId: t.exposeID('tenantId', { description: 'The site: `tenant` takes it.' }),
    window: t.field({
      type: Window,
      description: 'What it covers: as far back as the plan of this site reads.',
      resolve: ({ window }) => window,
    }),
    previous: t.field({
      type: SumType,
      nullable: true,
      description: 'The window before; null unless `compare` is true.',
      resolve: ({ previous }) => previous,
    }),
  }),
});

const SitesType = builder.objectRef<SitesEarnings>('SitesEarnings').implement({
  description: 'What sites earned, together and each, exact to the micro and of one moment.',
  fields: (t) => ({
    generatedAt: t.field({
      type: 'EpochMs',
      description: 'When it was made.',
      resolve: ({ generatedAtMs }) => generatedAtMs,
    }),
    totals: t.field({ type: SumType, description: 'All of them together.', resolve: ({ totals }) => totals }),
    previous: t.field({
      type: SumType,
      nullable: true,
      description: 'All of them in the window before; null unless `compare` is true.',
      resolve: ({ previous }) => previous,
    }),
    sites: t.field({
      type: [SiteType],
      description: `Each site, the most money first; ${MAX_SUMMED_SITES} at most.`,
      resolve: ({ sites }) => [...sites],
    }),
  }),
});

builder.objectFields(Viewer, (t) => ({
  tenants: t.field({
    type: TenantConnection,
    description:
      'The sites that the caller may ask about, the one that a token was made for first. What is asked of them is read site by site.',
    complexity: (args) => {
      const { multiplier } = listCost(args);
      return { field: LIST_COST + multiplier * ROW_COST, multiplier };
    },
    args: pageArgs,
    resolve: async (caller, args, context) => {
      const page = pageOf(sitesOf(caller), (tenantId) => tenantId, pageRequest(args, 'SITES'));
      const sites = new Map<string, Site>();
      for (const { row } of page.rows) {
        const site = await findSite(context, row);
        if (site) sites.set(row, site);
      }
      return connect(mapPage(page, (tenantId) => sites.get(tenantId) as Site));
    },
  }),
  earnings: t.field({
    type: SitesType,
    nullable: true,
    description: 'What the sites of the caller earned in a window, added up. Scope earnings.read.all.',
    authScopes: { reads: 'earnings.read.all' },
    // Each site is read by its own rows, and each window again. Who asks is known wherever a query is answered.
    complexity: ({ compare, tenantIds }, caller) => {
      const sites = tenantIds?.length ?? (caller ? sitesOf(caller).length : MAX_SUMMED_SITES);
      return (compare ? 2 : 1) * (REPORT_COST + Math.min(sites, MAX_SUMMED_SITES) * LIST_COST);
    },
    args: {
      window: t.arg({ type: WindowInput, description: 'When.' }),
      compare: t.arg.boolean({ description: 'True: also the window before.' }),
      tenantIds: t.arg.idList({
        description: `Which sites; left out: all. ${MAX_SUMMED_SITES} at most.`,
      }),
    },
    resolve: (caller, { window, compare, tenantIds }, { deps }) =>
      readSitesEarnings({ database: deps.reading, clock: deps.clock }, chosen(caller, tenantIds), {
        ...askedWindow(window, deps.clock()),
        compare: compare ?? false,
      }),
  }),
}));

/** The sites that a caller names, each once; all of the caller's where none is named. Throws invalid_parameter for one that is not the caller's. */
function chosen(caller: Pick<GraphqlContext, 'key' | 'owner'>, named: readonly string[] | null | undefined): readonly string[] {
  const own = sitesOf(caller);
  if (!named) return own;
  const wanted = [...new Set(named.map((tenantId) => tenantId.toLowerCase()))];
  if (wanted.every((tenantId) => own.includes(tenantId))) return wanted;
  throw new ServiceError('invalid_parameter', 'tenantIds: names a site that is not yours; `viewer { tenants }` lists yours', {
    parameter: 'tenantIds',
  });
}
