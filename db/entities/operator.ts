import { defineEntity, p } from '@mikro-orm/postgresql';

export const OperatorAlert = defineEntity({
  name: 'OperatorAlert',
  tableName: 'operator_alert',
  properties: {
    alertId: p.uuid().primary(),
    tenantId: p.uuid().nullable(),
    kind: p.text(),
    detail: p.text(),
    raisedAt: p.datetime(3).defaultRaw('now()'),
    resolvedAt: p.datetime(3).nullable(),
  },
});

export const OperatorAuditLog = defineEntity({
  name: 'OperatorAuditLog',
  tableName: 'operator_audit_log',
  properties: {
    entryId: p.uuid().primary(),
    at: p.datetime(3).defaultRaw('clock_timestamp()'),
    actorId: p.text(),
    action: p.text(),
    target: p.text().nullable(),
    before: p.json().nullable(),
    after: p.json().nullable(),
  },
});

export const RetentionProgress = defineEntity({
  name: 'RetentionProgress',
  tableName: 'retention_progress',
  properties: {
    what: p.text().primary(),
    doneBefore: p.datetime(3),
  },
});
