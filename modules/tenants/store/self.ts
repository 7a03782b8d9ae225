import type { Sql } from '../../../db/database.ts';
import type { DefaultPayee } from '../../pricing/rules/pricing.ts';

/** A tenant's own row as it reads it; decimals as text. */
export interface TenantSelf {
  readonly id: string;
  /** Moved by every change of what the site sells, and of its hosts. */
  readonly version: number;
  readonly hosts: readonly string[];
  readonly originUrl: string | null;
  readonly articlePrefixes: readonly string[] | null;
  readonly priceUsdc: string;
  readonly citationMultiplier: string | null;
  readonly creditsApiUrl: string | null;
  readonly creditsInline: Readonly<Record<string, unknown>> | null;
  readonly creditsFreeSlugs: readonly string[] | null;
  readonly defaultPayee: DefaultPayee | null;
  readonly readAgainHours: number | null;
  readonly licenseIssuer: string | null;
  readonly plan: string | null;
  readonly status: string;
  readonly ownerUserId: string | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly directoryListed: boolean;
  readonly walletPublic: boolean;
  readonly showcaseListed: boolean;
  readonly proofPublic: boolean;
}

/** Reads a tenant with its verified hosts, the default one first; null when there is none. */
export async function findTenantSelf(sql: Sql, tenantId: string): Promise<TenantSelf | null> {
  const rows = await sql.query<TenantSelf & Record<string, unknown>>(
    `select tenant_id as id, version, array(select host from tenant_host where tenant_host.tenant_id = tenant.tenant_id
         and verified_at is not null order by position, host) as hosts,
       origin_url as "originUrl", article_prefixes as "articlePrefixes", price_usdc as "priceUsdc",
       citation_multiplier as "citationMultiplier", credits_api_url as "creditsApiUrl", credits_inline as "creditsInline",
       credits_free_slugs as "creditsFreeSlugs",
       (select nullif(pricing -> 'defaultPayee', 'null') from tenant_pricing as v
         where v.tenant_id = tenant.tenant_id and v.valid_until is null) as "defaultPayee",
       (select (pricing ->> 'readAgainHours')::int from tenant_pricing as v
         where v.tenant_id = tenant.tenant_id and v.valid_until is null) as "readAgainHours", license_issuer as "licenseIssuer", plan, status,
       owner_user_id as "ownerUserId", created_at as "createdAt", updated_at as "updatedAt",
       directory_listed as "directoryListed", wallet_public as "walletPublic", showcase_listed as "showcaseListed",
       proof_public as "proofPublic"
     from tenant where tenant_id = $1`,
    [tenantId],
  );
  return rows[0] ?? null;
}
