import { defineEntity, p } from '@mikro-orm/postgresql';

/** A publisher key: its rights, never its secret (specification, Authentication). */
export const ApiKey = defineEntity({
  name: 'ApiKey',
  tableName: 'api_key',
  properties: {
    tenantId: p.uuid().primary(),
    keyId: p.uuid().primary(),
    name: p.text(),
    prefix: p.text().$type<'svc_live_' | 'svc_test_'>(),
    last4: p.text(),
    scopes: p.array(),
    expiresAt: p.datetime(3).nullable(),
    revokedAt: p.datetime(3).nullable(),
    lastUsedAt: p.datetime(3).nullable(),
    createdAt: p.datetime(3).defaultRaw('now()'),
  },
});

/** The HMAC of a key's secret, unique over all tenants. */
export const ApiKeyHash = defineEntity({
  name: 'ApiKeyHash',
  tableName: 'api_key_hash',
  properties: {
    keyHash: p.blob().primary(),
    tenantId: p.uuid(),
    keyId: p.uuid(),
  },
});
