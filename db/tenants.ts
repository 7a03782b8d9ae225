import { LockMode } from '@mikro-orm/core';
import type { Plan, TenantStatus } from '../domain/access.ts';
import type { Pricing } from '../domain/pricing.ts';
import type { Database, Sql, Transactional } from './database.ts';
import { HostClaim, Tenant, TenantHost, TenantPricing } from './entities/index.ts';

/** The channel that says which tenant's rows changed. */
export const TENANT_CHANNEL = 'svc_tenant';

/** A tenant to store, with its verified hosts in order and its first pricing version. */
export interface NewTenant {
  readonly tenantId: string;
  readonly hosts: readonly string[];
  readonly status: TenantStatus;
  readonly plan: Plan | null;
  readonly ownerUserId: string | null;
  readonly originUrl: string | null;
  readonly licenseIssuer: string | null;
  readonly pricing: Pricing;
}

/**
 * Tells every process, when this database transaction commits, that a tenant's rows changed; whoever changes a tenant, host
 * or key row calls it.
 */
export async function notifyTenant(sql: Sql, tenantId: string): Promise<void> {
  await sql.query('select pg_notify($1, $2)', [TENANT_CHANNEL, tenantId]);
}

/** Stores a tenant, its verified hosts with their global claims, and pricing version 1. A host claimed by another: 23505. */
export async function insertTenant(database: Database, tenant: NewTenant, at: Date): Promise<void> {
  const { tenantId, hosts, pricing, ...row } = tenant;
  await database.orm.em.fork().transactional(async (em) => {
    em.create(Tenant, { tenantId, ...row, ...columnsOf(pricing), createdAt: at, updatedAt: at });
    await em.flush();
    em.create(TenantPricing, { tenantId, version: 1, pricing: { ...pricing }, validFrom: at });
    hosts.forEach((host, position) => {
      em.create(TenantHost, { tenantId, host, position, verifiedAt: at });
      em.create(HostClaim, { host, tenantId });
    });
  });
}

/**
 * Writes the next pricing version and ends the one in force, at the same moment (safety 17). `change` gets the pricing in
 * force, under the tenant's row lock, and returns the next one or throws. Null when there is no such tenant.
 */
export async function replacePricing(
  database: Transactional,
  tenantId: string,
  at: Date,
  change: (current: Pricing) => Pricing,
): Promise<{ version: number } | null> {
  return database.transaction(async (sql) => {
    const [tenant] = await sql.query<{ version: number }>('select version from tenant where tenant_id = $1 for no key update', [
      tenantId,
    ]);
    if (tenant === undefined) return null;
    const [current] = await sql.query<{ pricing: Pricing; valid_from: Date }>(
      'select pricing, valid_from from tenant_pricing where tenant_id = $1 and valid_until is null',
      [tenantId],
    );
    if (current === undefined) throw new Error('a site without a pricing in force');
    const next = change(current.pricing);
    const version = tenant.version + 1;
    // Two edits within one clock tick, or a clock that went back, must not leave a version with a negative life.
    const from = at > current.valid_from ? at : current.valid_from;
    await sql.query('update tenant_pricing set valid_until = $2 where tenant_id = $1 and valid_until is null', [tenantId, from]);
    await sql.query('insert into tenant_pricing (tenant_id, version, pricing, valid_from) values ($1, $2, $3, $4)', [
      ...[tenantId, version, JSON.stringify(next), from],
    ]);
    const { creditsInline, articlePrefixes, creditsFreeSlugs } = next;
    await sql.query(
      `update tenant set price_usdc = $2, citation_multiplier = $3, article_prefixes = $4, credits_inline = $5,
         credits_free_slugs = $6, credits_api_url = $7, version = $8, updated_at = $9 where tenant_id = $1`,
      [
        ...[tenantId, next.priceUsdc, next.citationMultiplier, articlePrefixes],
        ...[creditsInline && JSON.stringify(creditsInline), creditsFreeSlugs, next.creditsApiUrl, version, at],
      ],
    );
    await notifyTenant(sql, tenantId);
    return { version };
  });
}

/** The pricing in force, as stored; null when there is no such tenant. */
export async function findPricing(sql: Sql, tenantId: string): Promise<Pricing | null> {
  const [row] = await sql.query<{ pricing: Pricing }>(
    'select pricing from tenant_pricing where tenant_id = $1 and valid_until is null',
    [tenantId],
  );
  return row?.pricing ?? null;
}

/** Sets a tenant's status or plan and bumps its version; false when there is no such tenant. */
export async function updateTenant(
  database: Database,
  tenantId: string,
  change: { readonly status?: TenantStatus; readonly plan?: Plan | null },
  at: Date,
): Promise<boolean> {
  return database.orm.em.fork().transactional(async (em) => {
    const tenant = await em.findOne(Tenant, { tenantId }, { lockMode: LockMode.PESSIMISTIC_WRITE });
    if (!tenant) return false;
    Object.assign(tenant, change, { version: tenant.version + 1, updatedAt: at });
    await em.flush();
    await em.execute('select pg_notify(?, ?)', [TENANT_CHANNEL, tenantId]);
    return true;
  });
}

function columnsOf(pricing: Pricing) {
  return {
    priceUsdc: pricing.priceUsdc,
    citationMultiplier: pricing.citationMultiplier,
    articlePrefixes: pricing.articlePrefixes && [...pricing.articlePrefixes],
    creditsInline: pricing.creditsInline && { ...pricing.creditsInline },
    creditsFreeSlugs: pricing.creditsFreeSlugs && [...pricing.creditsFreeSlugs],
    creditsApiUrl: pricing.creditsApiUrl,
  };
}
