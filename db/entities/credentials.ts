import { defineEntity, p } from '@mikro-orm/postgresql';
import type { Period } from '../../modules/budgets/rules/period.ts';
import type { Scope } from '../../modules/kernel/access/key.ts';
import { bytes } from './columns.ts';

export const ApiKey = defineEntity({
  name: 'ApiKey',
  tableName: 'api_key',
  properties: {
    tenantId: p.uuid().primary(),
    keyId: p.uuid().primary(),
    name: p.text(),
    prefix: p.text().$type<'svc_live_' | 'svc_test_'>(),
    last4: p.text(),
    scopes: p.array().$type<readonly Scope[]>(),
    lostScopes: p.json().defaultRaw("'{}'::jsonb"),
    expiresAt: p.datetime(3).nullable(),
    revokedAt: p.datetime(3).nullable(),
    lastUsedAt: p.datetime(3).nullable(),
    createdAt: p.datetime(3).defaultRaw('now()'),
  },
});

export const ApiKeyHash = defineEntity({
  name: 'ApiKeyHash',
  tableName: 'api_key_hash',
  properties: {
    keyHash: bytes().primary(),
    tenantId: p.uuid(),
    keyId: p.uuid(),
    pepperId: p.text().nullable(),
  },
});

export const BuyerAccount = defineEntity({
  name: 'BuyerAccount',
  tableName: 'buyer_account',
  properties: {
    accountId: p.uuid().primary(),
    name: p.text().nullable(),
    wallet: p.text().nullable(),
    erasedAt: p.datetime(3).nullable(),
    budgetPeriod: p.text().$type<Period>().nullable(),
    budgetTotalMicro: p.bigint('string').nullable(),
    budgetHostMicro: p.bigint('string').nullable(),
    budgetPageMicro: p.bigint('string').nullable(),
    budgetApproveAboveMicro: p.bigint('string').nullable(),
    budgetIsStopped: p.boolean().default(false),
    budgetVersion: p.integer().default(0),
    budgetUpdatedAt: p.datetime(3).nullable(),
    alertUrl: p.text().nullable(),
    alertEndpointId: p.uuid().nullable(),
    alertSealed: bytes().nullable(),
    alertKeyId: p.text().nullable(),
    alertSetAt: p.datetime(3).nullable(),
    createdAt: p.datetime(3).defaultRaw('now()'),
  },
});

export const BuyerKey = defineEntity({
  name: 'BuyerKey',
  tableName: 'buyer_key',
  properties: {
    keyHash: bytes().primary(),
    pepperId: p.text().nullable(),
    keyId: p.uuid().defaultRaw('gen_random_uuid()'),
    name: p.text().nullable(),
    accountId: p.uuid(),
    last4: p.text(),
    revokedAt: p.datetime(3).nullable(),
    createdAt: p.datetime(3).defaultRaw('now()'),
  },
});

export const ConsoleSession = defineEntity({
  name: 'ConsoleSession',
  tableName: 'console_session',
  properties: {
    sessionHash: bytes().primary(),
    userId: p.text(),
    issuer: p.text().nullable(),
    tokenId: p.uuid().nullable(),
    createdAt: p.datetime(3),
    usedAt: p.datetime(3),
    expiresAt: p.datetime(3),
  },
});

export const OauthClient = defineEntity({
  name: 'OauthClient',
  tableName: 'oauth_client',
  properties: {
    clientId: p.uuid().primary(),
    accountId: p.uuid(),
    name: p.text().nullable(),
    secretHash: bytes().nullable(),
    pepperId: p.text().nullable(),
    jwks: p.json().$type<{ readonly keys: readonly Readonly<Record<string, unknown>>[] }>().nullable(),
    isOwner: p.boolean().default(false),
    lastUsedAt: p.datetime(3).nullable(),
    revokedAt: p.datetime(3).nullable(),
    createdAt: p.datetime(3).defaultRaw('now()'),
  },
});

export const OwnerToken = defineEntity({
  name: 'OwnerToken',
  tableName: 'owner_token',
  properties: {
    tokenHash: bytes().primary(),
    pepperId: p.text().nullable(),
    tokenId: p.uuid().defaultRaw('gen_random_uuid()'),
    last4: p.text().defaultRaw("''::text"),
    tenantId: p.uuid(),
    userId: p.text(),
    expiresAt: p.datetime(3).nullable(),
    revokedAt: p.datetime(3).nullable(),
    createdAt: p.datetime(3).defaultRaw('now()'),
  },
});

export const SigningKey = defineEntity({
  name: 'SigningKey',
  tableName: 'signing_key',
  properties: {
    kid: p.text().primary(),
    publicJwk: p.json().$type<Readonly<Record<string, unknown>>>(),
    publishedAt: p.datetime(3).defaultRaw('now()'),
    activeFrom: p.datetime(3),
    retiredAt: p.datetime(3).nullable(),
  },
});

export const UsedOnce = defineEntity({
  name: 'UsedOnce',
  tableName: 'used_once',
  properties: {
    ownerId: p.uuid().primary(),
    kind: p.text().$type<'proof' | 'sign_in' | 'assertion' | 'invitation' | 'confirm'>().primary(),
    key: p.text().primary(),
    expiresAt: p.datetime(3),
  },
});
