import { choiceOf } from '../../../modules/tenants/use/manageNetworks.ts';
import { describeTenant } from '../../../modules/tenants/use/self.ts';
import type { KeyRoute } from '../../route.ts';
import { PublisherTenants } from '../../schemas/tenants.ts';
import { jsonResponse, keyErrors } from '../responses.ts';

/** GET /_svc/tenants/self: the site a key is bound to, as its owner configured it. */
export const tenantsSelfRoute: KeyRoute = {
  method: 'get',
  path: '/_svc/tenants/self',
  access: { scope: 'tenant.read', freshness: 'now' },
  operation: {
    operationId: 'getTenantSelf',
    tags: ['Config'],
    summary: 'The site of the key',
    security: [{ publisherKey: [] }],
    responses: { '200': jsonResponse('The bound site', PublisherTenants), ...keyErrors() },
  },
  handle: async ({ deps, caller }) => {
    const tenant = await describeTenant(deps, caller.tenant.tenantId);
    const chainsEnabled = choiceOf(deps.networks.ids, caller.tenant.networks).taken;
    const headers = { 'cache-control': 'private, no-store' };
    const row = {
      id: tenant.id,
      hosts: tenant.hosts,
      origin_url: tenant.originUrl,
      article_prefixes: tenant.articlePrefixes,
      price_usdc: Number(tenant.priceUsdc),
      citation_multiplier: tenant.citationMultiplier === null ? null : Number(tenant.citationMultiplier),
      credits_api_url: tenant.creditsApiUrl,
      credits_inline: tenant.creditsInline,
      credits_free_slugs: tenant.creditsFreeSlugs,
      license_issuer: tenant.licenseIssuer,
      plan: tenant.plan,
      status: tenant.status,
      owner_user_id: tenant.ownerUserId,
      created_at: tenant.createdAt.toISOString(),
      updated_at: tenant.updatedAt.toISOString(),
      directory_listed: tenant.directoryListed,
      wallet_public: tenant.walletPublic,
      showcase_listed: tenant.showcaseListed,
      proof_public: tenant.proofPublic,
    };
    return { status: 200, headers, body: { tenants: [row], chainsEnabled } };
  },
};
