import { defineEntity, p } from '@mikro-orm/postgresql';
import { bytes } from './columns.ts';

export const ReceiptBody = defineEntity({
  name: 'ReceiptBody',
  tableName: 'receipt_body',
  properties: {
    tenantId: p.uuid().primary(),
    paymentId: p.uuid().primary(),
    sha256: bytes(),
    bytes: p.bigint('string'),
    notedAt: p.datetime(3).defaultRaw('now()'),
  },
});
