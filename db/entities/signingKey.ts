import { defineEntity, p } from '@mikro-orm/postgresql';

/** The public half of a licence signing key and its life: published, then active, then retired (safety 13). */
export const SigningKey = defineEntity({
  name: 'SigningKey',
  tableName: 'signing_key',
  properties: {
    kid: p.text().primary(),
    publicJwk: p.json().$type<Record<string, unknown>>(),
    publishedAt: p.datetime(3).defaultRaw('now()'),
    activeFrom: p.datetime(3),
    retiredAt: p.datetime(3).nullable(),
  },
});
