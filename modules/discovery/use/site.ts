import { LRUCache } from 'lru-cache';
import type { Database } from '../../../db/database.ts';
import type { TenantSnapshot } from '../../identity/use/tenantSnapshots.ts';
import { keptHost } from '../../kernel/hosts/hostname.ts';
import type { HostTenant } from '../../licences/store/offering.ts';
import { findTenantOfHost } from '../../licences/store/offering.ts';
import type { CompiledPricing } from '../../pricing/rules/pricing.ts';
import type { PublisherDeps } from '../../quotes/use/deps.ts';
import { presentPricing } from '../../quotes/use/issue.ts';

/** What a document is made of. */
export interface DocumentSite {
  readonly tenant: TenantSnapshot;
  /** The host that was asked about: verified, and the tenant's. */
  readonly host: string;
  /** The pricing in force. */
  readonly pricing: CompiledPricing;
}

/** Who owns a host is asked again after this long, as copies of tenants are; invented hosts cost a look into an index each. */
const OWNER_MS = 2_000;
const OWNERS = 10_000;
const HOST = /^[a-z0-9.-]{1,253}$/;

interface Owner {
  readonly site: HostTenant | null;
  readonly readAtMs: number;
}
const owners = new WeakMap<Database, LRUCache<string, Owner>>();

/**
 * The site that sells on a host; null for a host nobody proved and for a site that sells nothing now. At most two seconds behind Postgres.
 * Throws database_unavailable (503).
 */
export async function findLiveSite(
  deps: Pick<PublisherDeps, 'database' | 'snapshots' | 'clock'>,
  named: string,
): Promise<DocumentSite | null> {
  const host = keptHost(named);
  if (!HOST.test(host)) return null;
  const owner = await ownerOf(deps, host);
  const tenant = owner && (await deps.snapshots.tenant(owner.tenantId, owner.version));
  if (tenant?.status !== 'active' || !tenant.hosts.includes(host)) return null;
  return { tenant, host, pricing: presentPricing(tenant) };
}

async function ownerOf(deps: Pick<PublisherDeps, 'database' | 'clock'>, host: string): Promise<HostTenant | null> {
  const { database, clock } = deps;
  const known = owners.get(database) ?? new LRUCache<string, Owner>({ max: OWNERS });
  owners.set(database, known);
  const held = known.get(host);
  const nowMs = clock();
  if (held && Math.abs(nowMs - held.readAtMs) <= OWNER_MS) return held.site;
  const site = await findTenantOfHost(database, host);
  known.set(host, { site, readAtMs: nowMs });
  return site;
}
