import { defineEntity, p } from '@mikro-orm/postgresql';
import type { SourceType } from '../../modules/gate/rules/webbotauth/source.ts';
import type { CrossingKind } from '../../modules/kernel/terms.ts';

export const AddressList = defineEntity({
  name: 'AddressList',
  tableName: 'address_list',
  properties: {
    name: p.text().primary(),
    ranges: p.array().$type<readonly string[]>(),
    checkedAt: p.datetime(3),
    changedAt: p.datetime(3),
  },
});

export const AgentDirectory = defineEntity({
  name: 'AgentDirectory',
  tableName: 'agent_directory',
  properties: {
    address: p.text().primary(),
    type: p.text().$type<SourceType>(),
    host: p.text(),
    readAt: p.datetime(3),
    freshUntil: p.datetime(3),
    keys: p.json().$type<Readonly<Record<string, object>>>(),
    operator: p.text().nullable(),
    purpose: p.text().nullable(),
    cardAt: p.datetime(3).nullable(),
  },
});

export const AgentName = defineEntity({
  name: 'AgentName',
  tableName: 'agent_name',
  properties: {
    tenantId: p.uuid().primary(),
    day: p.date().primary(),
    place: p.smallint().primary(),
    name: p.text(),
  },
});

export const HostLiveness = defineEntity({
  name: 'HostLiveness',
  tableName: 'host_liveness',
  properties: {
    tenantId: p.uuid().primary(),
    host: p.text().primary(),
    quotedAt: p.datetime(3).nullable(),
    verifiedAt: p.datetime(3).nullable(),
    observedAt: p.datetime(3).nullable(),
    keyRejectedAt: p.datetime(3).nullable(),
    planGatedAt: p.datetime(3).nullable(),
    failedOpenAt: p.datetime(3).nullable(),
  },
});

export const Observation = defineEntity({
  name: 'Observation',
  tableName: 'observation',
  properties: {
    tenantId: p.uuid().primary(),
    at: p.datetime(3).primary(),
    observationId: p.uuid().primary(),
    host: p.text(),
    slug: p.text(),
    verdict: p.text().$type<'served-free' | 'agent-reread' | 'denied' | 'blocked' | 'paid' | 'payment-failed' | 'unservable'>(),
    classifiedAs: p.text().$type<'human' | 'agent'>(),
    kind: p.text().$type<CrossingKind>().nullable(),
    micro: p.bigint('string').nullable(),
    reason: p.text().nullable(),
    count: p.smallint().$type<1 | -1>().default(1),
    paymentId: p.uuid().nullable(),
    agent: p.text(),
    agentUa: p.text().nullable(),
    classifyReason: p.text().nullable(),
    verified: p.boolean().nullable(),
    verifiedAgent: p.text().nullable(),
    sigInvalid: p.boolean().nullable(),
    recordedAt: p.datetime(3).defaultRaw('now()'),
  },
});
