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
    networks: p.array().nullable(),
    ownerUserId: p.text().nullable(),
    ownerIssuer: p.text().nullable(),
    directoryListed: p.boolean().default(false),
    walletPublic: p.boolean().default(false),
    showcaseListed: p.boolean().default(false),
    proofPublic: p.boolean().default(false),
    version: p.integer().default(1),
    createdAt: p.datetime(3).defaultRaw('now()'),
    updatedAt: p.datetime(3).defaultRaw('now()'),
  },
});
