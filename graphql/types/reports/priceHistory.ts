import type { PriceChange } from '../../../modules/reports/use/lists/lists.ts';
import { priceChanges } from '../../../modules/reports/use/lists/lists.ts';
import { builder } from '../../schema/builder.ts';
import { connectionOf, findPage, listCost, pageArgs, pageRequest } from '../../schema/connections.ts';
import { TimeOrder } from '../../schema/enums.ts';
import { Tenant } from '../../schema/site.ts';
import { WindowInput, windowOf } from '../../schema/windows.ts';
import { PricesType } from './attention.ts';

const ChangeType = builder.objectRef<PriceChange>('PriceChange').implement({
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
      return findPage(request, () => priceChanges.page(deps, site.tenantId, which, request));
    },
  }),
);
