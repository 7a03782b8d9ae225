import { defineEntity, p } from '@mikro-orm/postgresql';

/** A long-lived `svc_buyer_` credential of an account, as its HMAC. */
export const BuyerKey = defineEntity({
  name: 'BuyerKey',
  tableName: 'buyer_key',
  properties: {
    keyHash: p.blob().primary(),
    pepperId: p.text().nullable(),
    accountId: p.uuid(),
    keyId: p.uuid().defaultRaw('gen_random_uuid()'),
    name: p.text().nullable(),
    last4: p.text(),
    revokedAt: p.datetime(3).nullable(),
    createdAt: p.datetime(3).defaultRaw('now()'),
  },
});

/** A token of a tenant's owner, as its HMAC. */
export const OwnerToken = defineEntity({
  name: 'OwnerToken',
  tableName: 'owner_token',
  properties: {
    tokenHash: p.blob().primary(),
    pepperId: p.text().nullable(),
    tenantId: p.uuid(),
    userId: p.text(),
    tokenId: p.uuid().defaultRaw('gen_random_uuid()'),
    last4: p.text(),
    expiresAt: p.datetime(3).nullable(),
    revokedAt: p.datetime(3).nullable(),
    createdAt: p.datetime(3).defaultRaw('now()'),
  },
});
