import { defineEntity, p } from '@mikro-orm/postgresql';
import type { AnomalyMetric } from '../../modules/webhooks/rules/anomalyRule.ts';
import { bytes } from './columns.ts';

export const AlertMail = defineEntity({
  name: 'AlertMail',
  tableName: 'alert_mail',
  properties: {
    tenantId: p.uuid().primary(),
    mailId: p.text().primary(),
    toAddress: p.text(),
    subject: p.text(),
    detail: p.text(),
    sealed: bytes().nullable(),
    attempts: p.smallint().default(0),
    dueAt: p.datetime(3).defaultRaw('now()'),
    sentAt: p.datetime(3).nullable(),
    createdAt: p.datetime(3).defaultRaw('now()'),
  },
});

export const AnomalyRule = defineEntity({
  name: 'AnomalyRule',
  tableName: 'anomaly_rule',
  properties: {
    tenantId: p.uuid().primary(),
    ruleId: p.uuid().primary(),
    metric: p.text().$type<AnomalyMetric>(),
    rangeKey: p.text().$type<'1h' | '6h' | '24h' | '7d' | '30d'>(),
    threshold: p.float().columnType('double precision'),
    host: p.text().nullable(),
    enabled: p.boolean().default(true),
    breachedAt: p.datetime(3).nullable(),
    firedWindow: p.integer().nullable(),
    firedAt: p.datetime(3).nullable(),
    createdAt: p.datetime(3).defaultRaw('now()'),
    updatedAt: p.datetime(3).defaultRaw('now()'),
  },
});
