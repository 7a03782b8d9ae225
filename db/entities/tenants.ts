import { defineEntity, p } from '@mikro-orm/postgresql';
import type { CrawlerPolicy, StoredScope } from '../../modules/gate/rules/enforcement.ts';
import type { ClassPolicies } from '../../modules/gate/rules/visitors.ts';
import type { Plan, TenantStatus } from '../../modules/kernel/access/key.ts';
import type { PeriodFactor } from '../../modules/kernel/licence/period.ts';
import type { Pricing } from '../../modules/pricing/rules/pricing.ts';
import { bytes } from './columns.ts';

export const AccessEpoch = defineEntity({
  name: 'AccessEpoch',
  tableName: 'access_epoch',
  properties: {
    tenantId: p.uuid().primary(),
    epoch: p.uuid(),
  },
});

export const AuditLog = defineEntity({
  name: 'AuditLog',
  tableName: 'audit_log',
  properties: {
    tenantId: p.uuid().primary(),
    entryId: p.uuid().primary(),
    at: p.datetime(3).defaultRaw('clock_timestamp()'),
    actorId: p.text(),
    actorVia: p.text().$type<'oidc' | 'token' | 'operator' | 'invitation'>(),
    action: p.text(),
    target: p.text().nullable(),
    before: p.json().nullable(),
    after: p.json().nullable(),
  },
});

export const CreditsCopy = defineEntity({
  name: 'CreditsCopy',
  tableName: 'credits_copy',
  properties: {
    tenantId: p.uuid().primary(),
    apiUrl: p.text().primary(),
    slug: p.text().primary(),
    credits: p.json().$type<unknown>().nullable(),
    fetchedAt: p.datetime(3),
    previous: p.json().$type<unknown>().nullable(),
    previousUntil: p.datetime(3).nullable(),
  },
});

export const CreditsToken = defineEntity({
  name: 'CreditsToken',
  tableName: 'credits_token',
  properties: {
    tenantId: p.uuid().primary(),
    origin: p.text(),
    sealed: bytes(),
    keyId: p.text(),
    setAt: p.datetime(3),
  },
});

export const ImportedPage = defineEntity({
  name: 'ImportedPage',
  tableName: 'imported_page',
  properties: {
    tenantId: p.uuid().primary(),
    slug: p.text().primary(),
    path: p.text(),
    title: p.text().nullable(),
    credits: p.json().nullable(),
    importedAt: p.datetime(3).defaultRaw('now()'),
  },
});

export const FormerCredits = defineEntity({
  name: 'FormerCredits',
  tableName: 'former_credits',
  properties: {
    tenantId: p.uuid().primary(),
    path: p.text().primary(),
    credits: p.json().nullable(),
    endedAt: p.datetime(3),
  },
});

export const Member = defineEntity({
  name: 'Member',
  tableName: 'member',
  properties: {
    tenantId: p.uuid().primary(),
    authorId: p.text().primary(),
    email: p.text(),
    userId: p.text().nullable(),
    acceptedAt: p.datetime(3).nullable(),
    inviteId: p.uuid(),
    inviteExpiresAt: p.datetime(3),
    createdAt: p.datetime(3).defaultRaw('now()'),
  },
});

export const MemberInviteHash = defineEntity({
  name: 'MemberInviteHash',
  tableName: 'member_invite_hash',
  properties: {
    tokenHash: bytes().primary(),
    tenantId: p.uuid(),
    authorId: p.text(),
    pepperId: p.text().nullable(),
  },
});

export const Tenant = defineEntity({
  name: 'Tenant',
  tableName: 'tenant',
  properties: {
    tenantId: p.uuid().primary(),
    status: p.text().$type<TenantStatus>().defaultRaw("'pending'::text"),
    plan: p.text().$type<Plan>().nullable(),
    priceUsdc: p.decimal('string').precision(18).scale(6),
    citationMultiplier: p.decimal('string').precision(9).scale(4).nullable(),
    articlePrefixes: p.array().$type<readonly string[]>().nullable(),
    originUrl: p.text().nullable(),
    creditsApiUrl: p.text().nullable(),
    creditsInline: p.json().$type<Readonly<Record<string, unknown>>>().nullable(),
    creditsFreeSlugs: p.array().$type<readonly string[]>().nullable(),
    licenseIssuer: p.text().nullable(),
    ownerUserId: p.text().nullable(),
    ownerIssuer: p.text().nullable(),
    directoryListed: p.boolean().default(false),
    walletPublic: p.boolean().default(false),
    showcaseListed: p.boolean().default(false),
    proofPublic: p.boolean().default(false),
    receiptsPublic: p.boolean().default(true),
    legalName: p.text().nullable(),
    legalAddress: p.text().nullable(),
    networks: p.array().$type<readonly string[]>().nullable(),
    gateScope: p.json().$type<StoredScope>().nullable(),
    seoAllowlist: p.array().$type<readonly string[]>().nullable(),
    crawlerPolicy: p.json().$type<CrawlerPolicy & { readonly classes?: Partial<ClassPolicies> }>().nullable(),
    sellsTraining: p.boolean().default(false),
    periodFactors: p.json().$type<readonly PeriodFactor[]>().nullable(),
    offeringChangedAt: p.datetime(3).nullable(),
    alertEmail: p.text().nullable(),
    confirmedAlertEmail: p.text().nullable(),
    version: p.integer().default(1),
    createdAt: p.datetime(3).defaultRaw('now()'),
    updatedAt: p.datetime(3).defaultRaw('now()'),
  },
});

export const TenantPricing = defineEntity({
  name: 'TenantPricing',
  tableName: 'tenant_pricing',
  properties: {
    tenantId: p.uuid().primary(),
    version: p.integer().primary(),
    pricing: p.json().$type<Pricing>(),
    validFrom: p.datetime(3).defaultRaw('now()'),
    validUntil: p.datetime(3).nullable(),
  },
});
