import { defineEntity, p } from '@mikro-orm/postgresql';

/** A publisher's site, the isolation boundary. Prices are decimals of USD as text. */
export const Tenant = defineEntity({
  name: 'Tenant',
  tableName: 'tenant',
  properties: {
    tenantId: p.uuid().primary(),
    status: p.text().$type<'pending' | 'active' | 'suspended' | 'closed'>(),
    plan: p.text().$type<'free' | 'starter' | 'studio' | 'scale' | 'enterprise'>().nullable(),
    priceUsdc: p.decimal('string').precision(18).scale(6),
    citationMultiplier: p.decimal('string').precision(9).scale(4).nullable(),
    articlePrefixes: p.array().nullable(),
    originUrl: p.text().nullable(),
    creditsApiUrl: p.text().nullable(),
    creditsInline: p.json().$type<Record<string, unknown>>().nullable(),
    creditsFreeSlugs: p.array().nullable(),
    licenseIssuer: p.text().nullable(),
    ownerUserId: p.text().nullable(),
    directoryListed: p.boolean().default(false),
    walletPublic: p.boolean().default(false),
    showcaseListed: p.boolean().default(false),
    proofPublic: p.boolean().default(false),
    version: p.integer().default(1),
    createdAt: p.datetime(3).defaultRaw('now()'),
    updatedAt: p.datetime(3).defaultRaw('now()'),
  },
});

/** A hostname of a tenant; the first by position is the default of a quote by slug alone. */
export const TenantHost = defineEntity({
  name: 'TenantHost',
  tableName: 'tenant_host',
  properties: {
    tenantId: p.uuid().primary(),
    host: p.text().primary(),
    position: p.integer().default(0),
    verifiedAt: p.datetime(3).nullable(),
    routingVerifiedAt: p.datetime(3).nullable(),
    createdAt: p.datetime(3).defaultRaw('now()'),
  },
});

/** A verified host belongs to one tenant, globally. */
export const HostClaim = defineEntity({
  name: 'HostClaim',
  tableName: 'host_claim',
  properties: {
    host: p.text().primary(),
    tenantId: p.uuid(),
  },
});

/** One version of what a tenant charges, and when it was in force (safety 17). */
export const TenantPricing = defineEntity({
  name: 'TenantPricing',
  tableName: 'tenant_pricing',
  properties: {
    tenantId: p.uuid().primary(),
    version: p.integer().primary(),
    pricing: p.json().$type<Record<string, unknown>>(),
    validFrom: p.datetime(3).defaultRaw('now()'),
    validUntil: p.datetime(3).nullable(),
  },
});
