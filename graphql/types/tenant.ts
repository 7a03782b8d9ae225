import type { TenantStatus } from '../../modules/kernel/access/key.ts';
import type { DefaultPayee as Payee } from '../../modules/pricing/rules/pricing.ts';
import { ROW_COST } from '../limits/limits.ts';
import type { GraphqlContext } from '../request/context.ts';
import { builder } from '../schema/builder.ts';
import { KeyScope } from '../schema/enums.ts';
import { identified, Node } from '../schema/node.ts';
import { findSite, sitesOf, Tenant } from '../schema/site.ts';
import { PlanName, TenantStatusName } from '../schema/words.ts';

const DefaultPayee = builder.objectRef<Payee>('DefaultPayee').implement({
  description: 'Who is paid for the pages of a site that name nobody.',
  fields: (t) => ({
    authorId: t.exposeString('authorId', { description: 'Who it is, as earnings and statements name the author.' }),
    wallet: t.exposeString('wallet', { description: 'Where the money goes.' }),
  }),
});

const TENANT_READ = { authScopes: { reads: 'tenant.read' }, nullable: true } as const;

identified(Tenant, { reads: null, idOf: () => 'site', find: (_context, site) => site });

Tenant.implement({
  interfaces: [Node],
  description:
    'A site: its hosts, prices, earnings, observations, and everything else of it. Each part says which scope a key needs.',
  fields: (t) => ({
    tenantId: t.exposeID('tenantId', { description: 'Its id.' }),
    version: t.int({
      ...TENANT_READ,
      description:
        'Moves with every change of its prices, pages, gate, networks, hosts and standing: `ifVersion` of a mutation is this. Scope tenant.read.',
      resolve: ({ self }) => self.version,
    }),
    status: t.field({
      ...TENANT_READ,
      type: TenantStatusName,
      description: 'Where it stands. Scope tenant.read.',
      resolve: ({ self }) => self.status as TenantStatus,
    }),
    plan: t.field({
      ...TENANT_READ,
      type: PlanName,
      description: 'Its plan; null: free. Scope tenant.read.',
      resolve: ({ plan }) => plan,
    }),
    defaultHost: t.string({
      ...TENANT_READ,
      description: 'Its first proven host. Scope tenant.read.',
      resolve: ({ hosts }) => hosts[0] ?? null,
    }),
    priceUsdc: t.string({
      ...TENANT_READ,
      description:
        'What a read costs, in USDC: as it is charged, where it was set below the lowest price once. Scope tenant.read.',
      resolve: ({ self }) => self.priceUsdc,
    }),
    citationMultiplier: t.string({
      ...TENANT_READ,
      description: 'How many times a read a citation costs; null: 5. Scope tenant.read.',
      resolve: ({ self }) => self.citationMultiplier,
    }),
    articlePrefixes: t.field({
      ...TENANT_READ,
      type: ['String'],
      description: 'Where its articles are; null: everywhere. Scope tenant.read.',
      resolve: ({ self }) => self.articlePrefixes,
    }),
    freeSlugs: t.field({
      ...TENANT_READ,
      type: ['String'],
      description: 'Pages that cost nothing. Scope tenant.read.',
      resolve: ({ self }) => self.creditsFreeSlugs,
    }),
    creditsApiUrl: t.string({
      ...TENANT_READ,
      description: 'Where authors of pages are asked for. Scope tenant.read.',
      resolve: ({ self }) => self.creditsApiUrl,
    }),
    defaultPayee: t.field({
      ...TENANT_READ,
      type: DefaultPayee,
      description: 'Who is paid for pages that name nobody; null: such pages are free. Scope tenant.read.',
      resolve: ({ self }) => self.defaultPayee,
    }),
    readAgainHours: t.int({
      ...TENANT_READ,
      description:
        'For how many hours a page opens again to the wallet that paid for it; null: for as long as its licence. Scope tenant.read.',
      resolve: ({ self }) => self.readAgainHours,
    }),
    creditsInline: t.string({
      ...TENANT_READ,
      description: 'JSON text of the authors of pages it keeps here. Scope tenant.read.',
      resolve: ({ self }) => (self.creditsInline === null ? null : JSON.stringify(self.creditsInline)),
    }),
  }),
});

builder.objectFields(Tenant, (t) => ({
  originUrl: t.string({
    ...TENANT_READ,
    description: 'Its origin server. Scope tenant.read.',
    resolve: ({ self }) => self.originUrl,
  }),
  licenseIssuer: t.string({
    ...TENANT_READ,
    description: 'Who its licences say issued them; null: this service. Scope tenant.read.',
    resolve: ({ self }) => self.licenseIssuer,
  }),
  ownerUserId: t.string({
    ...TENANT_READ,
    description: 'Its owner. Scope tenant.read.',
    resolve: ({ self }) => self.ownerUserId,
  }),
  createdAt: t.field({
    ...TENANT_READ,
    type: 'EpochMs',
    description: 'When it was made. Scope tenant.read.',
    resolve: ({ self }) => self.createdAt.getTime(),
  }),
  updatedAt: t.field({
    ...TENANT_READ,
    type: 'EpochMs',
    description: 'When it was changed last. Scope tenant.read.',
    resolve: ({ self }) => self.updatedAt.getTime(),
  }),
}));

/** Who asks. */
export const Viewer = builder.objectRef<GraphqlContext>('Viewer').implement({
  description: 'Who asks.',
  fields: (t) => ({
    isOwner: t.boolean({
      description: 'True for an owner of sites, false for a key and for a buyer account.',
      resolve: ({ owner }) => owner !== null,
    }),
    accountId: t.id({
      nullable: true,
      description: 'The buyer account’s id; null for credentials of a site.',
      resolve: ({ account }) => account?.accountId ?? null,
    }),
    userId: t.string({ nullable: true, description: 'The owner’s id.', resolve: ({ owner }) => owner?.userId ?? null }),
    keyId: t.id({ nullable: true, description: 'The key’s id.', resolve: ({ key }) => key?.keyId ?? null }),
    scopes: t.field({
      type: [KeyScope],
      nullable: true,
      description: 'What the key may do.',
      resolve: ({ key }) => key?.scopes ?? null,
    }),
    tenantIds: t.idList({
      description: 'Sites the caller may ask about.',
      deprecationReason: 'Use `tenants`, which says what the sites are.',
      resolve: (caller) => [...sitesOf(caller)],
    }),
  }),
});

builder.queryType({
  description: 'Everything a publisher may see of its sites. Keys read what their scopes allow, owners everything.',
  fields: (t) => ({
    viewer: t.field({
      type: Viewer,
      description: 'Who asks, and which sites they may ask about.',
      resolve: (_root, _args, context) => context,
    }),
    tenant: t.field({
      type: Tenant,
      nullable: true,
      description: 'A site of the caller; null for any other.',
      complexity: ROW_COST,
      args: {
        tenantId: t.arg.id({
          description:
            'Which one. Left out: the site of the key, or the one that an owner’s token was made for; who signed in and has several names one.',
        }),
      },
      resolve: (_root, { tenantId }, context) => findSite(context, tenantId ?? null),
    }),
  }),
});
