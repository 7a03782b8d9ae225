import { z } from 'zod';
import { ServiceError } from '../../modules/kernel/errors.ts';
import {
  pingSiteEndpoint,
  recoverSiteDeliveries,
  redeliverSiteEvent,
  replaySiteEvents,
} from '../../modules/webhooks/use/manageDeliveries.ts';
import type { RetriesNow } from '../../modules/webhooks/use/manageRetries.ts';
import { orderRetries } from '../../modules/webhooks/use/manageRetries.ts';
import { builder } from '../schema/builder.ts';
import { DeliveryType, EndpointType } from '../types/webhooks.ts';
import { id, line, optional, ownerMutation, TENANT_ID } from './field.ts';

const PingEndpointPayload = builder
  .objectRef<{ readonly eventId: string; readonly deliveryId: string }>('PingEndpointPayload')
  .implement({
    description: 'A test event on its way.',
    fields: (t) => ({
      eventId: t.exposeID('eventId', { description: 'The event; it begins with `evt_ping_`.' }),
      deliveryId: t.exposeID('deliveryId', { description: 'The delivery, to follow what became of it.' }),
    }),
  });

ownerMutation('pingEndpoint', {
  description: "Sends a test event of the endpoint's first event type to it alone. Each call sends another one.",
  input: builder.inputType('PingEndpointInput', {
    description: 'An endpoint to try.',
    fields: (t) => ({ tenantId: t.id(TENANT_ID), endpointId: t.id({ required: true, description: 'The endpoint.' }) }),
  }),
  schema: z.object({ endpointId: id('webhook endpoint') }),
  payload: PingEndpointPayload,
  changed: { field: 'delivery', type: DeliveryType, idOf: ({ deliveryId }) => deliveryId },
  change: (deps, call, { endpointId }) => pingSiteEndpoint(deps, call, endpointId),
});

const RedeliverPayload = builder.objectRef<{ readonly deliveryId: string }>('RedeliverPayload').implement({
  description: 'A further delivery of an event.',
  fields: (t) => ({ deliveryId: t.exposeID('deliveryId', { description: 'The new delivery; the event keeps its id.' }) }),
});

ownerMutation('redeliver', {
  description: 'Delivers the event of a delivery once more to the same endpoint. Each call makes a further delivery.',
  input: builder.inputType('RedeliverInput', {
    description: 'A delivery to repeat.',
    fields: (t) => ({ tenantId: t.id(TENANT_ID), deliveryId: t.id({ required: true, description: 'The delivery.' }) }),
  }),
  schema: z.object({ deliveryId: line(100) }),
  payload: RedeliverPayload,
  changed: { field: 'delivery', type: DeliveryType, idOf: ({ deliveryId }) => deliveryId },
  change: (deps, call, { deliveryId }) => redeliverSiteEvent(deps, call, deliveryId),
});

const ReplayEventsPayload = builder
  .objectRef<{ readonly deliveries: number; readonly next: string | null }>('ReplayEventsPayload')
  .implement({
    description: 'Events that are delivered again.',
    fields: (t) => ({
      deliveries: t.exposeInt('deliveries', { description: 'How many deliveries this call made.' }),
      next: t.exposeString('next', { nullable: true, description: 'Give it as `after` to go on; null: that was all.' }),
    }),
  });

ownerMutation('replayEvents', {
  description: 'Delivers every event of a time range to an endpoint, the oldest first, at most 1,000 a call.',
  input: builder.inputType('ReplayEventsInput', {
    description: 'Which events, and to which endpoint.',
    fields: (t) => ({
      tenantId: t.id(TENANT_ID),
      endpointId: t.id({ required: true, description: 'The endpoint; only events of its types and hosts are delivered.' }),
      from: t.field({ type: 'EpochMs', required: true, description: 'Events created from here on.' }),
      to: t.field({ type: 'EpochMs', required: true, description: 'Events created before.' }),
      after: t.string({ description: '`next` of the call before.' }),
    }),
  }),
  schema: z.object({ endpointId: id('webhook endpoint'), from: z.number(), to: z.number(), after: optional(line(300)) }),
  payload: ReplayEventsPayload,
  changed: { field: 'endpoint', type: EndpointType, idOf: (_payload, { endpointId }) => endpointId },
  change: async (deps, call, { endpointId, from, to, after }) => {
    const range = { fromMs: from, toMs: to, ...(after === undefined ? {} : { after: cursorOf(after) }) };
    const { deliveries, next } = await replaySiteEvents(deps, call, endpointId, range);
    return { deliveries, next: next === null ? null : `${next.createdAtMs}:${next.eventId}` };
  },
});

function cursorOf(text: string): { createdAtMs: number; eventId: string } {
  const [, at, eventId] = /^(\d{1,15}):([\w-]+)$/.exec(text) ?? [];
  if (at !== undefined && eventId !== undefined) return { createdAtMs: Number(at), eventId };
  throw new ServiceError('invalid_parameter', 'after: not a `next` value of this mutation', { parameter: 'after' });
}

const RecoverDeliveriesPayload = builder
  .objectRef<{ readonly deliveries: number; readonly isMore: boolean }>('RecoverDeliveriesPayload')
  .implement({
    description: 'Deliveries that are tried again.',
    fields: (t) => ({
      deliveries: t.exposeInt('deliveries', { description: 'How many are pending again.' }),
      isMore: t.exposeBoolean('isMore', { description: 'True when the same call would find more.' }),
    }),
  });

ownerMutation('recoverDeliveries', {
  description:
    "Makes an endpoint's exhausted deliveries pending again, the oldest first, at most 1,000 a call: same ids, same bytes.",
  input: builder.inputType('RecoverDeliveriesInput', {
    description: 'Which deliveries to try again.',
    fields: (t) => ({
      tenantId: t.id(TENANT_ID),
      endpointId: t.id({ required: true, description: 'The endpoint.' }),
      since: t.field({ type: 'EpochMs', required: true, description: 'Deliveries created from here on.' }),
    }),
  }),
  schema: z.object({ endpointId: id('webhook endpoint'), since: z.number() }),
  payload: RecoverDeliveriesPayload,
  changed: { field: 'endpoint', type: EndpointType, idOf: (_payload, { endpointId }) => endpointId },
  change: (deps, call, { endpointId, since }) => recoverSiteDeliveries(deps, call, endpointId, since),
});

function retriesPayload(name: string) {
  return builder.objectRef<RetriesNow>(name).implement({
    description: 'What waits at an endpoint now.',
    fields: (t) => ({
      endpointId: t.exposeID('endpointId', { description: 'The endpoint.' }),
      pausedUntil: t.field({
        type: 'EpochMs',
        nullable: true,
        description: 'Until when nothing is sent to it; null: it is not paused.',
        resolve: ({ pausedUntil }) => pausedUntil,
      }),
      deliveries: t.exposeInt('deliveries', { description: 'Of how many deliveries the next attempt was brought forward.' }),
    }),
  });
}

ownerMutation('pauseEndpoint', {
  description:
    'Sends nothing to an endpoint for a while, e.g. while its receiver is repaired: what waits uses no attempt. Again: counts from now, for 168 hours in all.',
  input: builder.inputType('PauseEndpointInput', {
    description: 'Which endpoint, and for how long.',
    fields: (t) => ({
      tenantId: t.id(TENANT_ID),
      endpointId: t.id({ required: true, description: 'The endpoint.' }),
      hours: t.int({ description: '1 to 168, after which it is sent to again; left out: 24.' }),
    }),
  }),
  schema: z.object({ endpointId: id('webhook endpoint'), hours: optional(z.number().int()) }),
  payload: retriesPayload('PauseEndpointPayload'),
  changed: { field: 'endpoint', type: EndpointType, idOf: ({ endpointId }) => endpointId },
  change: (deps, call, { endpointId, hours = 24 }) => orderRetries(deps, call, endpointId, { kind: 'pause', hours }),
});

for (const [name, kind, description] of [
  ['resumeEndpoint', 'resume', 'Ends the pause of an endpoint. Again: changes nothing.'],
  ['skipEndpointWait', 'skip', 'Makes the attempts that wait at an endpoint now; each uses one of its eight.'],
] as const) {
  const title = `${name[0]?.toUpperCase()}${name.slice(1)}`;
  ownerMutation(name, {
    description,
    input: builder.inputType(`${title}Input`, {
      description: 'The endpoint meant.',
      fields: (t) => ({ tenantId: t.id(TENANT_ID), endpointId: t.id({ required: true, description: 'The endpoint.' }) }),
    }),
    schema: z.object({ endpointId: id('webhook endpoint') }),
    payload: retriesPayload(`${title}Payload`),
    changed: { field: 'endpoint', type: EndpointType, idOf: ({ endpointId }) => endpointId },
    change: (deps, call, { endpointId }) => orderRetries(deps, call, endpointId, { kind }),
  });
}
