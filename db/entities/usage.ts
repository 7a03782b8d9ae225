import { defineEntity, p } from '@mikro-orm/postgresql';

export const UsageReport = defineEntity({
  name: 'UsageReport',
  tableName: 'usage_report',
  properties: {
    tenantId: p.uuid().primary(),
    reportId: p.uuid().primary().defaultRaw('uuidv7()'),
    licenceJti: p.text(),
    idempotencyId: p.text(),
    requestHash: p.text(),
    host: p.text(),
    slug: p.text(),
    use: p.text(),
    count: p.integer(),
    withinTerms: p.boolean().nullable(),
    at: p.datetime(3),
    reportedAt: p.datetime(3).defaultRaw('now()'),
    day: p.date(),
    place: p.smallint(),
  },
});
