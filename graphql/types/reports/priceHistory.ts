import { z } from 'zod';
import type { ReadingDeps } from '../../../modules/paging/use/deps.ts';
import { mapPage } from '../../../modules/paging/use/pages.ts';
import type { PriceChange } from '../../../modules/reports/use/lists/lists.ts';
import { priceChanges } from '../../../modules/reports/use/lists/lists.ts';
import type { SalesAround, SalesOf } from '../../../modules/reports/use/salesAround.ts';
import { readSalesAround } from '../../../modules/reports/use/salesAround.ts';
import { LIST_COST } from '../../limits/limits.ts';
import { builder } from '../../schema/builder.ts';
import { connectionOf, findPage, listCost, pageArgs, pageRequest } from '../../schema/connections.ts';
import { TimeOrder } from '../../schema/enums.ts';
import { Bucket } from '../../schema/series.ts';
import type { Site } from '../../schema/site.ts';
import { Tenant } from '../../schema/site.ts';
import { WindowInput, windowOf } from '../../schema/windows.ts';
import { PricesType } from './attention.ts';
import { EarningsSums } from './earnings.ts';

const SalesType = builder.objectRef<SalesOf>('SalesOfStretch').implement({
  description: 'What was sold in a stretch of time.',
  interfaces: [EarningsSums, Bucket],
});

const AroundType = builder.objectRef<SalesAround>('SalesAround').implement({
  description: 'What was sold before a price was set, and as long after it. Other changes may lie in that time.',
  fields: (t) => ({
    before: t.field({
      type: SalesType,
      description: 'Before it, as far back as the plan reads.',
      resolve: ({ before }) => before,
    }),
    after: t.field({ type: SalesType, description: 'Since then, up to now at most.', resolve: ({ after }) => after }),
  }),
});

/** A price with the plan of its site. */
type Change = PriceChange & Pick<Site, 'plan'>;

const ChangeType = builder.objectRef<Change>('PriceChange').implement({
  description: 'A price that the site set. Quotes made before stay good for their life.',
  fields: (t) => ({
    version: t.exposeInt('version', { description: 'Version of the site that it came with.' }),
    at: t.field({ type: 'EpochMs', description: 'Since when it is quoted.', resolve: ({ at }) => at }),
    from: t.field({
      type: PricesType,
      nullable: true,
      description: 'What it was; null: this was the first.',
      resolve: ({ from }) => from,
    }),
    to: t.field({
      type: PricesType,
      description: 'What was set; one below the lowest price is charged as the lowest.',
      resolve: ({ to }) => to,
    }),
    sales: t.loadable({
      type: AroundType,
      nullable: true,
      description: 'What the site sold so many days before and after it. Scope earnings.read.all.',
      authScopes: { reads: 'earnings.read.all' },
      complexity: LIST_COST,
      args: {
        days: t.arg.int({
          defaultValue: 7,
          description: 'Days of 24 hours, 1 to 366.',
          validate: z.int().min(1, 'must be at least 1').max(366, 'must be at most 366').nullish(),
        }),
      },
      byPath: true,
      load: (changes: Change[], { deps }, { days }) => salesOf(deps, changes, days ?? 7),
      resolve: (change) => change,
    }),
    actorId: t.exposeString('actorId', {
      nullable: true,
      description: 'Who set it; null where the audit log has nothing of that moment. For owners.',
      authScopes: { owner: true },
    }),
    actorVia: t.exposeString('actorVia', {
      nullable: true,
      description: 'How they had signed in: oidc, token, or operator. For owners.',
      authScopes: { owner: true },
    }),
  }),
});

/** Site by site: one, unless an owner asks for several. */
async function salesOf(deps: ReadingDeps, changes: readonly Change[], days: number): Promise<SalesAround[]> {
  const found = new Map<Change, SalesAround>();
  for (const members of Map.groupBy(changes, ({ tenantId }) => tenantId).values()) {
    const [site] = members as [Change, ...Change[]];
    const moments = members.map(({ at }) => at.getTime());
    const sales = await readSalesAround(deps, site, moments, days);
    for (const [n, change] of members.entries()) found.set(change, sales[n] as SalesAround);
  }
  return changes.map((change) => found.get(change) as SalesAround);
}

const ChangeConnection = connectionOf(ChangeType, 'PriceChange', 'prices that were set');

builder.objectField(Tenant, 'priceHistory', (t) =>
  t.field({
    type: ChangeConnection,
    nullable: true,
    description: 'The prices of the site, each with what it was before; who set it is for owners. Scope tenant.read.',
    authScopes: { reads: 'tenant.read' },
    complexity: listCost,
    args: {
      ...pageArgs,
      window: t.arg({ type: WindowInput, description: 'When they were set. Left out: ever.' }),
      orderBy: t.arg({ type: TimeOrder, defaultValue: 'NEWEST', description: 'In which order.' }),
    },
    resolve: (site, { window, orderBy, ...page }, { deps }) => {
      const request = pageRequest(page, orderBy ?? 'NEWEST');
      const which = window ? { window: windowOf(site, window, deps.clock()) } : {};
      const { plan } = site;
      return findPage(request, async () =>
        mapPage(await priceChanges.page(deps, site.tenantId, which, request), (change) => ({ ...change, plan })),
      );
    },
  }),
);
