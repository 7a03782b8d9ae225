import { defineEntity, p } from '@mikro-orm/postgresql';

export const ReceiptBody = defineEntity({
  name: 'ReceiptBody',
  tableName: 'receipt_body',
  properties: {
    tenantId: p.uuid().primary(),
    paymentId: p.uuid().primary(),
    sha256: p.blob(),
    bytes: p.bigint('string'),
    notedAt: p.datetime(3).defaultRaw('now()'),
  },
});
