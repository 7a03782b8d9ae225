/** The site that sells a page to a buyer who comes to the service itself, without a key of that site. */
import type { Database } from '../../../../db/database.ts';
import { findLiveSite } from '../../../discovery/use/site.ts';
import type { TenantSnapshot } from '../../../identity/use/tenantSnapshots.ts';
import { hasApiAccess } from '../../../kernel/access/key.ts';
import { ServiceError } from '../../../kernel/errors.ts';
import type { ResourceUrl } from '../../../kernel/hosts/host.ts';
import { requireResource } from '../../../kernel/pages/resource.ts';
import { findTenantOfHost } from '../../../licences/store/offering.ts';
import type { PublisherDeps } from '../../../quotes/use/deps.ts';
import type { Seller } from '../../../settlement/use/accept/verify.ts';
import { findGate } from '../../../tenants/store/tenants.ts';

/** A page and who sells it. */
export interface SoldPage {
  readonly resource: ResourceUrl;
  readonly seller: Seller;
}

type SellerDeps = Pick<PublisherDeps, 'database' | 'snapshots' | 'clock'>;

/**
 * Whose page a URL is, from memory, for prices: at most two seconds behind, as quotes are. An invented host costs a look into an index, remembered.
 * Throws invalid_resource (400), not_found.
 */
export async function findSeller(deps: SellerDeps, url: string): Promise<SoldPage> {
  const resource = requireResource(url);
  const site = await findLiveSite(deps, resource.host);
  if (!site || !hasApiAccess(site.tenant.plan)) throw nobody();
  return { resource, seller: sellerOf(site.tenant) };
}

/**
 * The same for a purchase, read in this call: only a verified host of a site that may sell through the service, whose keys would be let in.
 * What an invented host costs: one look into an index. Throws invalid_resource (400), not_found, site_suspended.
 */
export async function requireSeller(deps: SellerDeps, url: string): Promise<SoldPage> {
  const resource = requireResource(url);
  const tenantId = await ownerOf(deps.database, resource.host);
  const gate = await findGate(deps.database, tenantId);
  // A site whose keys would not be let in sells nothing here either.
  if (!gate || !hasApiAccess(gate.plan)) throw nobody();
  if (gate.status === 'suspended') throw new ServiceError('site_suspended', 'this site is suspended');
  if (gate.status !== 'active') throw nobody();
  const tenant = await deps.snapshots.tenant(tenantId, gate.version);
  if (!tenant?.hosts.includes(resource.host)) throw nobody();
  return { resource, seller: sellerOf(tenant) };
}

function sellerOf(tenant: TenantSnapshot): Seller {
  return { tenant, key: { tenantId: tenant.tenantId, keyId: null, mode: 'live' } };
}

async function ownerOf(database: Database, host: string): Promise<string> {
  const site = await findTenantOfHost(database, host);
  if (!site) throw nobody();
  return site.tenantId;
}

function nobody(): ServiceError {
  return new ServiceError('not_found', 'no site that sells here has proven this host');
}
