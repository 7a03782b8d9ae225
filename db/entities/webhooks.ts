import { defineEntity, p } from '@mikro-orm/postgresql';
import type { Channel } from '../../modules/webhooks/rules/endpoint.ts';
import type { EventType, Profile } from '../../modules/webhooks/rules/event.ts';
import { bytes } from './columns.ts';

export const Delivery = defineEntity({
  name: 'Delivery',
  tableName: 'delivery',
  properties: {
    tenantId: p.uuid().primary(),
    deliveryId: p.text().primary(),
    eventId: p.text(),
    endpointId: p.uuid(),
    redelivery: p.smallint().default(0),
    bucket: p.smallint(),
    state: p.text().$type<'pending' | 'delivered' | 'failed' | 'exhausted'>().defaultRaw("'pending'::text"),
    reason: p.text().nullable(),
    attempts: p.smallint().default(0),
    retrying: p.boolean().default(false),
    scheduleFrom: p.smallint().default(0),
    profile: p.text().$type<Profile>().defaultRaw("'detailed'::text"),
    body: p.text().nullable(),
    dueAt: p.datetime(3).defaultRaw('now()'),
    createdAt: p.datetime(3).defaultRaw('now()'),
    decidedAt: p.datetime(3).nullable(),
  },
});

export const DeliveryAttempt = defineEntity({
  name: 'DeliveryAttempt',
  tableName: 'delivery_attempt',
  properties: {
    tenantId: p.uuid().primary(),
    deliveryId: p.text().primary(),
    attempt: p.smallint().primary(),
    startedAt: p.datetime(3),
    durationMs: p.integer(),
    status: p.smallint().nullable(),
    reason: p.text().nullable(),
    responseStart: p.text().defaultRaw("''::text"),
  },
});

export const EndpointLease = defineEntity({
  name: 'EndpointLease',
  tableName: 'endpoint_lease',
  properties: {
    tenantId: p.uuid().primary(),
    endpointId: p.uuid().primary(),
    slot: p.smallint().$type<1 | 2>().primary(),
    leasedUntil: p.datetime(3).defaultRaw("'-infinity'::timestamp with time zone"),
    leaseId: p.uuid().nullable(),
    deliveryId: p.text().nullable(),
  },
});

export const EventWindow = defineEntity({
  name: 'EventWindow',
  tableName: 'event_window',
  properties: {
    tenantId: p.uuid().primary(),
    host: p.text().primary(),
    closedUntil: p.datetime(3).defaultRaw("'-infinity'::timestamp with time zone"),
  },
});

export const WebhookEndpoint = defineEntity({
  name: 'WebhookEndpoint',
  tableName: 'webhook_endpoint',
  properties: {
    tenantId: p.uuid().primary(),
    endpointId: p.uuid().primary(),
    url: p.text(),
    channel: p.text().$type<Channel>().defaultRaw("'raw'::text"),
    eventTypes: p.array().$type<readonly EventType[]>(),
    hostFilter: p.array().$type<readonly string[]>().nullable(),
    profile: p.text().$type<Profile>().defaultRaw("'detailed'::text"),
    description: p.text().defaultRaw("''::text"),
    enabled: p.boolean().default(true),
    disabledReason: p.text().$type<'owner' | 'gone' | 'failing'>().nullable(),
    failuresInRow: p.integer().default(0),
    failingSince: p.datetime(3).nullable(),
    exhaustedInRow: p.integer().default(0),
    cooledUntil: p.datetime(3).nullable(),
    pausedUntil: p.datetime(3).nullable(),
    pausedSince: p.datetime(3).nullable(),
    deletedAt: p.datetime(3).nullable(),
    createdAt: p.datetime(3).defaultRaw('now()'),
    updatedAt: p.datetime(3).defaultRaw('now()'),
  },
});

export const WebhookEvent = defineEntity({
  name: 'WebhookEvent',
  tableName: 'webhook_event',
  properties: {
    tenantId: p.uuid().primary(),
    eventId: p.text().primary(),
    type: p.text().$type<EventType>(),
    host: p.text().nullable(),
    detailed: p.json().columnType('json'),
    summary: p.json().columnType('json'),
    createdAt: p.datetime(3).defaultRaw('now()'),
  },
});

export const WebhookEventLeg = defineEntity({
  name: 'WebhookEventLeg',
  tableName: 'webhook_event_leg',
  properties: {
    tenantId: p.uuid().primary(),
    crossingId: p.uuid().primary(),
    ordinal: p.smallint().primary(),
    eventId: p.text(),
  },
});

export const WebhookSecret = defineEntity({
  name: 'WebhookSecret',
  tableName: 'webhook_secret',
  properties: {
    tenantId: p.uuid().primary(),
    endpointId: p.uuid().primary(),
    secretId: p.uuid().primary(),
    sealed: bytes(),
    keyId: p.text().nullable(),
    createdAt: p.datetime(3).defaultRaw('now()'),
    expiresAt: p.datetime(3).nullable(),
  },
});
