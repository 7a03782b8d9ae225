import { defineEntity, p } from '@mikro-orm/postgresql';
import { bytes } from './columns.ts';

export const PageAnswer = defineEntity({
  name: 'PageAnswer',
  tableName: 'page_answer',
  properties: {
    tenantId: p.uuid().primary(),
    paymentId: p.uuid().primary(),
    sha256: bytes().nullable(),
    bytes: p.bigint('string').nullable(),
    notedAt: p.datetime(3).nullable(),
    answeredAt: p.datetime(3).nullable(),
    outcome: p.text().$type<'delivered' | 'lost'>().nullable(),
    lostAt: p.datetime(3).nullable(),
    againCount: p.integer().default(0),
    againSha256: bytes().name('again_sha256').nullable(),
    againBytes: p.bigint('string').nullable(),
    owedGiven: p.smallint().default(0),
    heldSha256: bytes().name('held_sha256').nullable(),
    heldSignature: bytes().nullable(),
    heldAt: p.datetime(3).nullable(),
  },
});
