import { LockMode } from '@mikro-orm/core';
import type { Plan, TenantStatus } from '../domain/access.ts';
import type { Pricing } from '../domain/pricing.ts';
import type { Database, Sql } from './database.ts';
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
  database: Database,
  tenantId: string,
  at: Date,
  change: (current: Pricing) => Pricing,
): Promise<{ version: number } | null> {
  return database.orm.em.fork().transactional(async (em) => {
    const tenant = await em.findOne(Tenant, { tenantId }, { lockMode: LockMode.PESSIMISTIC_WRITE });
    if (!tenant) return null;
    const current = await em.findOneOrFail(TenantPricing, { tenantId, validUntil: null });
    const next = change(current.pricing as unknown as Pricing);
    const version = tenant.version + 1;
    // Two edits within one clock tick, or a clock that went back, must not leave a version with a negative life.
    const from = at > current.validFrom ? at : current.validFrom;
    current.validUntil = from;
    Object.assign(tenant, columnsOf(next), { version, updatedAt: at });
    em.create(TenantPricing, { tenantId, version, pricing: { ...next }, validFrom: from });
    await em.flush();
    await em.execute('select pg_notify(?, ?)', [TENANT_CHANNEL, tenantId]);
    return { version };
  });
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
