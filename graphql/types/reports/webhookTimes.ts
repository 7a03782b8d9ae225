import { endpoints } from '../../../modules/reports/use/lists/lists.ts';
import type { EndpointTimes, WebhookTimes } from '../../../modules/reports/use/webhookTimes.ts';
import { MAX_FAILING, MOST_ENDPOINTS_SHOWN, readWebhookTimes } from '../../../modules/reports/use/webhookTimes.ts';
import { LIST_COST, REPORT_COST, ROW_COST } from '../../limits/limits.ts';
import { argumentsBelow } from '../../request/asked.ts';
import { builder } from '../../schema/builder.ts';
import { filterId } from '../../schema/inputs.ts';
import { eachBy, keyIn } from '../../schema/loading.ts';
import { Tenant } from '../../schema/site.ts';
import { askedWindow, Report, WindowInput } from '../../schema/windows.ts';
import { EndpointType } from '../webhooks.ts';

const Times = builder.objectRef<WebhookTimes['delivered']>('DeliveryTimes').implement({
  description: 'How long deliveries took, from their event.',
  fields: (t) => ({
    deliveries: t.exposeInt('deliveries', { description: 'How many got there.' }),
    p50Ms: t.exposeFloat('p50Ms', {
      nullable: true,
      description: 'Milliseconds after which half of them had; null without any.',
    }),
    p95Ms: t.exposeFloat('p95Ms', { nullable: true, description: 'Milliseconds after which nineteen in twenty had.' }),
  }),
});

const EndpointTimesType = builder.objectRef<EndpointTimes>('EndpointTimes').implement({
  description:
    'What became of the deliveries to one endpoint that were made with the events of a window; redeliveries are left out.',
  fields: (t) => ({
    endpointId: t.exposeID('endpointId', { description: 'The endpoint’s id.' }),
    endpoint: t.loadable({
      type: EndpointType,
      nullable: true,
      description: 'The endpoint, deleted or not. Scope tenant.read.',
      authScopes: { reads: 'tenant.read' },
      complexity: ROW_COST,
      load: eachBy(endpoints, 'id'),
      resolve: (times) => keyIn(times, times.endpointId),
    }),
    made: t.exposeInt('made', { description: 'How many deliveries.' }),
    pending: t.exposeInt('pending', { description: 'Of these, how many are due, or will be tried again.' }),
    failed: t.exposeInt('failed', { description: 'Of these, how many were given up.' }),
    failedAttempts: t.exposeInt('failedAttempts', { description: 'How many tries failed.' }),
    firstAttempt: t.field({
      type: Times,
      description: 'Until they were tried first.',
      resolve: ({ firstAttempt }) => firstAttempt,
    }),
    delivered: t.field({
      type: Times,
      description: 'Until the receiver had answered well; of those that it has.',
      resolve: ({ delivered }) => delivered,
    }),
  }),
});

const WebhookTimesType = builder.objectRef<WebhookTimes>('WebhookTimes').implement({
  description: 'How long the deliveries took that were made with the events of a window; redeliveries are left out.',
  interfaces: [Report],
  fields: (t) => ({
    firstAttempt: t.field({
      type: Times,
      description: 'Until they were tried first.',
      resolve: ({ firstAttempt }) => firstAttempt,
    }),
    delivered: t.field({
      type: Times,
      description: 'Until the receiver had answered well; of those that it has.',
      resolve: ({ delivered }) => delivered,
    }),
    endpoints: t.field({
      type: [EndpointTimesType],
      description: `Endpoint by endpoint, those that failed most first; ${MOST_ENDPOINTS_SHOWN} at most.`,
      complexity: LIST_COST,
      resolve: ({ endpoints: each }) => [...each],
    }),
    failing: t.exposeInt('failing', {
      description: `Deliveries, of whatever time, that were tried in vain and will be tried again; ${MAX_FAILING} stands for more.`,
    }),
  }),
});

builder.objectField(Tenant, 'webhookTimes', (t) =>
  t.field({
    type: WebhookTimesType,
    nullable: true,
    description: 'How long webhooks took to be tried and delivered; reads every delivery of the window. Scope earnings.read.all.',
    authScopes: { reads: 'earnings.read.all' },
    complexity: REPORT_COST,
    args: {
      window: t.arg({ type: WindowInput, description: 'When their events were made.' }),
      endpointId: t.arg.id({ description: 'To this endpoint alone.' }),
    },
    resolve: (site, { window, endpointId }, { deps }, info) =>
      readWebhookTimes({ database: deps.reading, clock: deps.clock }, site, {
        ...askedWindow(window, deps.clock()),
        endpointId: filterId(endpointId, 'endpointId'),
        byEndpoint: argumentsBelow(info, 'endpoints').length > 0,
      }),
  }),
);
