import { defineEntity, p } from '@mikro-orm/postgresql';
import type { AlertState, Threshold } from '../../modules/budgets/rules/alert.ts';
import type { SpendingState } from '../../modules/budgets/rules/decide.ts';
import type { Period } from '../../modules/budgets/rules/period.ts';
import type { CrossingKind } from '../../modules/kernel/terms.ts';

export const AccountAlert = defineEntity({
  name: 'AccountAlert',
  tableName: 'account_alert',
  properties: {
    accountId: p.uuid().primary(),
    period: p.text().$type<Period>().primary(),
    periodStart: p.datetime(3).primary(),
    limitMicro: p.bigint('string').primary(),
    percent: p.smallint().$type<Threshold>().primary(),
    eventId: p.text().defaultRaw("('evt_'::text || replace((gen_random_uuid())::text, '-'::text, ''::text))"),
    periodEnd: p.datetime(3),
    spentMicro: p.bigint('string'),
    at: p.datetime(3).defaultRaw('now()'),
    state: p.text().$type<AlertState>(),
    reason: p.text().nullable(),
    attempts: p.smallint().default(0),
    dueAt: p.datetime(3).defaultRaw('now()'),
    leasedUntil: p.datetime(3).defaultRaw("'-infinity'::timestamp with time zone"),
    leaseId: p.uuid().nullable(),
    decidedAt: p.datetime(3).nullable(),
  },
});

export const AccountApproval = defineEntity({
  name: 'AccountApproval',
  tableName: 'account_approval',
  properties: {
    accountId: p.uuid().primary(),
    approvalId: p.uuid().primary().defaultRaw('gen_random_uuid()'),
    host: p.text(),
    resource: p.text(),
    resourceKey: p.text(),
    kind: p.text().$type<CrossingKind>(),
    amountMicro: p.bigint('string'),
    state: p.text().$type<'asked' | 'approved' | 'refused' | 'used'>().defaultRaw("'asked'::text"),
    askedAt: p.datetime(3).defaultRaw('now()'),
    decidedAt: p.datetime(3).nullable(),
    endsAt: p.datetime(3),
  },
});

export const AccountSpending = defineEntity({
  name: 'AccountSpending',
  tableName: 'account_spending',
  properties: {
    tenantId: p.uuid().primary(),
    paymentId: p.uuid().primary(),
    accountId: p.uuid().primary(),
    host: p.text(),
    resourceKey: p.text(),
    kind: p.text().$type<CrossingKind>(),
    purpose: p.text().$type<'page' | 'licence'>(),
    amountMicro: p.bigint('string'),
    at: p.datetime(3).defaultRaw('now()'),
    state: p.text().$type<SpendingState>().defaultRaw("'open'::text"),
    closedAt: p.datetime(3).nullable(),
  },
});

export const AccountSpent = defineEntity({
  name: 'AccountSpent',
  tableName: 'account_spent',
  properties: {
    accountId: p.uuid().primary(),
    periodStart: p.datetime(3).primary(),
    host: p.text().primary(),
    micro: p.bigint('string'),
  },
});
