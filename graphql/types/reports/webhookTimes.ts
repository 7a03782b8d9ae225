import type { WebhookTimes } from '../../../modules/reports/use/webhookTimes.ts';
import { MAX_FAILING, readWebhookTimes } from '../../../modules/reports/use/webhookTimes.ts';
import { REPORT_COST } from '../../limits/limits.ts';
import { builder } from '../../schema/builder.ts';
import { filterId } from '../../schema/inputs.ts';
import { Tenant } from '../../schema/site.ts';
import { askedWindow, Report, WindowInput } from '../../schema/windows.ts';

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
    resolve: (site, { window, endpointId }, { deps }) =>
      readWebhookTimes({ database: deps.reading, clock: deps.clock }, site, {
        ...askedWindow(window, deps.clock()),
        endpointId: filterId(endpointId, 'endpointId'),
      }),
  }),
);
