import type { OwnListing } from '../../modules/reports/use/siteSettings.ts';
import { readDiscovery } from '../../modules/reports/use/siteSettings.ts';
import { ROW_COST } from '../limits/limits.ts';
import { builder } from '../schema/builder.ts';
import { Tenant } from '../schema/site.ts';

/** How a site is found; summary null: it is not in the list. */
export type Discovery = Omit<OwnListing, 'summary'> & { readonly summary: string | null };

/** How a site is found that does not want to be. */
export const NOT_LISTED: Discovery = { summary: null, tags: [], relays: false };

/** How a site is found in the public list. */
export const DiscoveryType = builder.objectRef<Discovery>('Discovery').implement({
  description: 'How the site is found in the public list of what agents can buy, as setDiscovery sets it.',
  fields: (t) => ({
    isListed: t.boolean({ description: 'Whether it is in the list.', resolve: ({ summary }) => summary !== null }),
    summary: t.exposeString('summary', { nullable: true, description: 'What it says of itself; null: it is not in the list.' }),
    relay: t.exposeBoolean('relays', {
      description: 'Whether the text of its pages is relayed over MCP to buyers with a licence for them.',
    }),
    tags: t.stringList({ description: 'Its words.', resolve: ({ tags }) => [...tags] }),
  }),
});

builder.objectFields(Tenant, (t) => ({
  discovery: t.field({
    type: DiscoveryType,
    nullable: true,
    description: 'How it is found in the public list. Scope tenant.read.',
    authScopes: { reads: 'tenant.read' },
    complexity: ROW_COST,
    resolve: async (site, _args, { deps }) => (await readDiscovery(deps, site.tenantId)) ?? NOT_LISTED,
  }),
}));
