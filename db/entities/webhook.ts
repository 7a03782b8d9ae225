import { defineEntity, p } from '@mikro-orm/postgresql';

/** A webhook receiver of a tenant (naming: endpoint). What is sent to it is SQL (db/webhooks). */
export const WebhookEndpoint = defineEntity({
  name: 'WebhookEndpoint',
  tableName: 'webhook_endpoint',
  properties: {
    tenantId: p.uuid().primary(),
    endpointId: p.uuid().primary(),
    url: p.text(),
    channel: p.text().$type<'raw' | 'slack' | 'discord' | 'teams'>(),
    eventTypes: p.array(),
    hostFilter: p.array().nullable(),
    profile: p.text().$type<'detailed' | 'summary'>(),
    description: p.text().default(''),
    enabled: p.boolean().default(true),
    disabledReason: p.text().$type<'owner' | 'gone' | 'failing'>().nullable(),
    failuresInRow: p.integer().default(0),
    failingSince: p.datetime(3).nullable(),
    exhaustedInRow: p.integer().default(0),
    cooledUntil: p.datetime(3).nullable(),
    createdAt: p.datetime(3).defaultRaw('now()'),
    updatedAt: p.datetime(3).defaultRaw('now()'),
    deletedAt: p.datetime(3).nullable(),
  },
});
