import type { Attempt, Delivery, Endpoint, WebhookEvent } from '../../modules/reports/use/lists/lists.ts';
import { attempts, deliveries, endpoints, webhookEvents } from '../../modules/reports/use/lists/lists.ts';
import { chatLine } from '../../modules/webhooks/rules/chat.ts';
import { LIST_COST, ROW_COST } from '../limits/limits.ts';
import { MOST_OF } from '../limits/lists.ts';
import { builder } from '../schema/builder.ts';
import { connectionOf, findPage, listCost, pageArgs, pageRequest } from '../schema/connections.ts';
import { DeliveryState, EndpointChannel, EndpointProfile, EventTypeName, TimeOrder } from '../schema/enums.ts';
import { filterId, filterText, hostFilter, rowId } from '../schema/inputs.ts';
import { eachBy, groupsBy, keyIn } from '../schema/loading.ts';
import { identified, Node } from '../schema/node.ts';
import { Tenant } from '../schema/site.ts';
import { WindowInput, windowOf } from '../schema/windows.ts';
import { DisabledReasonName } from '../schema/words.ts';

/** A webhook endpoint. */
export const EndpointType = builder.objectRef<Endpoint>('WebhookEndpoint');
const EventObject = builder.objectRef<WebhookEvent>('WebhookEvent');
/** One event for one endpoint. */
export const DeliveryType = builder.objectRef<Delivery>('Delivery');

const AttemptType = builder.objectRef<Attempt>('DeliveryAttempt').implement({
  description: 'One try of a delivery.',
  fields: (t) => ({
    attempt: t.exposeInt('attempt', { description: 'Which try it was, counted from 1.' }),
    startedAt: t.field({ type: 'EpochMs', description: 'When it began.', resolve: ({ startedAt }) => startedAt }),
    durationMs: t.exposeInt('durationMs', { description: 'How long it took, in milliseconds.' }),
    status: t.exposeInt('status', { nullable: true, description: 'The HTTP status the receiver answered.' }),
    reason: t.exposeString('reason', { nullable: true, description: 'Why it failed; null: delivered.' }),
    responseStart: t.exposeString('responseStart', { description: 'The beginning of what the receiver answered.' }),
  }),
});

DeliveryType.implement({
  interfaces: [Node],
  description: 'One event for one endpoint.',
  fields: (t) => ({
    deliveryId: t.exposeID('deliveryId', { description: 'Its id, as the receiver sees it.' }),
    state: t.field({ type: DeliveryState, description: 'Where it stands.', resolve: ({ state }) => state }),
    reason: t.exposeString('reason', { nullable: true, description: 'Why it failed, or why the last attempt did.' }),
    redelivery: t.exposeInt('redelivery', {
      description: '0: made with the event; else which one of those asked for, counted from 1.',
    }),
    attemptCount: t.exposeInt('attempts', { description: 'How often it was tried.' }),
    dueAt: t.field({ type: 'EpochMs', description: 'When it is, or was, due.', resolve: ({ dueAt }) => dueAt }),
    createdAt: t.field({ type: 'EpochMs', description: 'When it was made.', resolve: ({ createdAt }) => createdAt }),
    decidedAt: t.field({
      type: 'EpochMs',
      nullable: true,
      description: 'When it was delivered or given up.',
      resolve: ({ decidedAt }) => decidedAt,
    }),
    event: t.loadable({
      type: EventObject,
      nullable: true,
      description: 'The event.',
      complexity: ROW_COST,
      load: eachBy(webhookEvents, 'id'),
      resolve: (delivery) => keyIn(delivery, delivery.eventId),
    }),
    endpoint: t.loadable({
      type: EndpointType,
      nullable: true,
      description: 'The endpoint, deleted or not. Scope tenant.read.',
      authScopes: { reads: 'tenant.read' },
      complexity: ROW_COST,
      load: eachBy(endpoints, 'id'),
      resolve: (delivery) => keyIn(delivery, delivery.endpointId),
    }),
    attempts: t.loadableList({
      type: AttemptType,
      description: 'Every try, the first one first; 20 at most.',
      load: groupsBy(attempts, 'delivery', MOST_OF['Delivery.attempts']),
      resolve: (delivery) => keyIn(delivery, delivery.deliveryId),
    }),
  }),
});

EventObject.implement({
  interfaces: [Node],
  description: 'Something that happened, as endpoints are told of it; one id always carries the same data.',
  fields: (t) => ({
    eventId: t.exposeID('eventId', { description: 'Its id.' }),
    type: t.field({ type: EventTypeName, description: 'What happened.', resolve: ({ type }) => type }),
    host: t.exposeString('host', { nullable: true, description: 'On which host; null: the site.' }),
    createdAt: t.field({ type: 'EpochMs', description: 'When it was made.', resolve: ({ createdAt }) => createdAt }),
    detailed: t.exposeString('detailed', { description: 'The JSON text of its data with every leg.' }),
    summary: t.exposeString('summary', { description: 'The JSON text of its data with sums alone.' }),
    chatLine: t.string({
      description: 'The line that an endpoint of a chat channel is sent of it, as people read it there.',
      resolve: ({ type, host, detailed, summary }) =>
        chatLine({ type, host, detailed: JSON.parse(detailed), summary: JSON.parse(summary) }),
    }),
    deliveries: t.loadableList({
      type: DeliveryType,
      description: 'To whom it goes; 20 at most, `deliveries` of the site with `eventId` has all.',
      load: groupsBy(deliveries, 'event', MOST_OF['WebhookEvent.deliveries']),
      resolve: (event) => keyIn(event, event.eventId),
    }),
  }),
});

EndpointType.implement({
  interfaces: [Node],
  description: 'A receiver of events. Its secret is never shown again.',
  fields: (t) => ({
    endpointId: t.exposeID('endpointId', { description: 'Its id.' }),
    origin: t.string({
      description: 'Scheme and host of its URL.',
      resolve: ({ url }) => new URL(url).origin,
    }),
    url: t.exposeString('url', {
      nullable: true,
      description: 'Its whole URL, which for a chat is a secret: for owners alone.',
      authScopes: { owner: true },
    }),
    channel: t.field({ type: EndpointChannel, description: 'What it takes.', resolve: ({ channel }) => channel }),
    profile: t.field({
      type: EndpointProfile,
      description: 'How much it is told.',
      resolve: ({ profile }) => profile,
    }),
    eventTypes: t.field({
      type: [EventTypeName],
      description: 'Which events it receives.',
      resolve: ({ eventTypes }) => eventTypes as 'settlement.completed'[],
    }),
    hostFilter: t.field({
      type: ['String'],
      nullable: true,
      description: 'Of which hosts; null: all.',
      resolve: ({ hostFilter }) => hostFilter,
    }),
    description: t.exposeString('description', { description: 'What its owner wrote of it.' }),
    enabled: t.exposeBoolean('enabled', { description: 'True while it is sent to.' }),
    disabledReason: t.field({
      type: DisabledReasonName,
      nullable: true,
      description: 'Why it is not.',
      resolve: ({ disabledReason }) => disabledReason,
    }),
    failuresInRow: t.exposeInt('failuresInRow', { description: 'Failed attempts since the last success.' }),
    failingSince: t.field({
      type: 'EpochMs',
      nullable: true,
      description: 'Since when every attempt failed.',
      resolve: ({ failingSince }) => failingSince,
    }),
    cooledUntil: t.field({
      type: 'EpochMs',
      nullable: true,
      description: 'Until when it is left alone.',
      resolve: ({ cooledUntil }) => cooledUntil,
    }),
    pausedUntil: t.field({
      type: 'EpochMs',
      nullable: true,
      description:
        'Until when its pause lasts, or lasted: nothing is sent meanwhile. Null: it was never paused, or was disabled since.',
      resolve: ({ pausedUntil }) => pausedUntil,
    }),
    createdAt: t.field({ type: 'EpochMs', description: 'When it was made.', resolve: ({ createdAt }) => createdAt }),
  }),
});

identified(EndpointType, {
  reads: 'tenant.read',
  isRowId: true,
  idOf: ({ endpointId }) => endpointId,
  find: ({ deps }, site, id) => endpoints.find(deps, site.tenantId, { id }),
});

identified(EventObject, {
  reads: 'earnings.read.all',
  idOf: ({ eventId }) => eventId,
  find: ({ deps }, site, id) => webhookEvents.find(deps, site.tenantId, { id, window: windowOf(site, null, deps.clock()) }),
});

identified(DeliveryType, {
  reads: 'earnings.read.all',
  idOf: ({ deliveryId }) => deliveryId,
  find: ({ deps }, site, id) => deliveries.find(deps, site.tenantId, { id, window: windowOf(site, null, deps.clock()) }),
});

const EventFilter = builder.inputType('WebhookEventFilter', {
  description: 'Which events; everything given must hold.',
  fields: (t) => ({
    window: t.field({ type: WindowInput, description: 'When they were made.' }),
    type: t.field({ type: EventTypeName, description: 'Of this type.' }),
    host: t.string({ description: 'On this host.', validate: filterText }),
  }),
});

const DeliveryFilter = builder.inputType('DeliveryFilter', {
  description: 'Which deliveries; everything given must hold.',
  fields: (t) => ({
    window: t.field({ type: WindowInput, description: 'When they were made.' }),
    states: t.field({ type: [DeliveryState], description: 'In one of these states.' }),
    failing: t.boolean({ description: 'True: those that were tried in vain and will be tried again; false: all others.' }),
    endpointId: t.id({ description: 'To this endpoint.' }),
    eventId: t.id({ description: 'Of this event.', validate: filterText }),
  }),
});

const EndpointConnection = connectionOf(EndpointType, 'WebhookEndpoint', 'webhook endpoints, the oldest first');
const EventConnection = connectionOf(EventObject, 'WebhookEvent', 'events');
const DeliveryConnection = connectionOf(DeliveryType, 'Delivery', 'deliveries');

builder.objectFields(Tenant, (t) => ({
  webhookEndpoints: t.field({
    type: EndpointConnection,
    nullable: true,
    description: 'Receivers of events. Scope tenant.read.',
    authScopes: { reads: 'tenant.read' },
    complexity: listCost,
    args: { ...pageArgs, endpointId: t.arg.id({ description: 'This one alone.' }) },
    resolve: async (site, { endpointId, ...page }, { deps }) => {
      const request = pageRequest(page, 'OLDEST');
      const id = filterId(endpointId, 'endpointId');
      return findPage(request, () => endpoints.page(deps, site.tenantId, id === null ? {} : { id }, request));
    },
  }),
  webhookEvents: t.field({
    type: EventConnection,
    nullable: true,
    description: 'What endpoints were told. Scope earnings.read.all.',
    authScopes: { reads: 'earnings.read.all' },
    complexity: listCost,
    args: {
      ...pageArgs,
      filter: t.arg({ type: EventFilter, description: 'Which ones.' }),
      orderBy: t.arg({ type: TimeOrder, defaultValue: 'NEWEST', description: 'In which order.' }),
    },
    resolve: async (site, { filter, orderBy, ...page }, { deps }) => {
      const { window, host, type } = filter ?? {};
      const request = pageRequest(page, orderBy ?? 'NEWEST');
      const which = { host: hostFilter(host), type: type ?? null, window: windowOf(site, window, deps.clock()) };
      return findPage(request, () => webhookEvents.page(deps, site.tenantId, which, request));
    },
  }),
  deliveries: t.field({
    type: DeliveryConnection,
    nullable: true,
    description: 'Events on their way to endpoints, with every try. Scope earnings.read.all.',
    authScopes: { reads: 'earnings.read.all' },
    complexity: listCost,
    args: {
      ...pageArgs,
      filter: t.arg({ type: DeliveryFilter, description: 'Which ones.' }),
      orderBy: t.arg({ type: TimeOrder, defaultValue: 'NEWEST', description: 'In which order.' }),
    },
    resolve: async (site, { filter, orderBy, ...page }, { deps }) => {
      const { window, states, failing, endpointId, eventId } = filter ?? {};
      const request = pageRequest(page, orderBy ?? 'NEWEST');
      const which = {
        states: states ?? null,
        eventId: eventId ?? null,
        endpointId: filterId(endpointId, 'filter.endpointId'),
        isFailing: failing ?? null,
        window: windowOf(site, window, deps.clock()),
      };
      return findPage(request, () => deliveries.page(deps, site.tenantId, which, request));
    },
  }),
  webhookEndpoint: t.field({
    type: EndpointType,
    nullable: true,
    description: 'One receiver by its id; null when the site has none of that id. Scope tenant.read.',
    authScopes: { reads: 'tenant.read' },
    complexity: LIST_COST,
    args: { endpointId: t.arg.id({ required: true, description: 'Its id.' }) },
    resolve: (site, { endpointId }, { deps }) => {
      const id = rowId(endpointId);
      return id === null ? null : endpoints.find(deps, site.tenantId, { id });
    },
  }),
}));
