import { z } from 'zod';
import { EVENT_TYPES } from '../../modules/webhooks/rules/event.ts';
import type { EndpointChange } from '../../modules/webhooks/use/manageEndpoints.ts';
import {
  changeSiteEndpoint,
  createSiteEndpoint,
  deleteSiteEndpoint,
  rotateSiteSecret,
} from '../../modules/webhooks/use/manageEndpoints.ts';
import { builder } from '../schema/builder.ts';
import { EndpointChannel, EndpointProfile, EventTypeName } from '../schema/enums.ts';
import { EndpointType } from '../types/webhooks.ts';
import { id, line, optional, ownerMutation, TENANT_ID } from './field.ts';

const settings = {
  eventTypes: optional(z.array(z.enum(EVENT_TYPES)).min(1, 'is empty').max(EVENT_TYPES.length, 'names a type twice')),
  hostFilter: z.array(line(253)).max(100, 'has more than 100 entries').nullish(),
  profile: optional(z.enum(['detailed', 'summary'])),
  description: optional(z.union([z.literal(''), line(200)], 'is longer than 200 characters, or has a control character')),
};

/** Members that were given; null is a value of the host filter alone. */
function given<T extends object>(input: T): Partial<T> {
  return Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined)) as Partial<T>;
}

const CreateEndpointPayload = builder
  .objectRef<{ readonly endpointId: string; readonly secret: string }>('CreateEndpointPayload')
  .implement({
    description: 'A new webhook endpoint.',
    fields: (t) => ({
      endpointId: t.exposeID('endpointId', { description: 'Names the endpoint.' }),
      secret: t.exposeString('secret', { description: 'Signs every delivery. It is shown this once and cannot be read again.' }),
    }),
  });

ownerMutation('createEndpoint', {
  description: 'Makes a webhook endpoint, at most 10 a site. Events made from now on are delivered to it.',
  input: builder.inputType('CreateEndpointInput', {
    description: 'A webhook endpoint to make.',
    fields: (t) => ({
      tenantId: t.id(TENANT_ID),
      url: t.string({
        required: true,
        description: 'https, on port 443 or 8443, with a public host name; of a chat: the URL it gave out.',
      }),
      channel: t.field({ type: EndpointChannel, description: 'What it takes; left out: `RAW`.' }),
      eventTypes: t.field({ type: [EventTypeName], description: 'What it hears of; left out: `SETTLEMENT_COMPLETED`.' }),
      hostFilter: t.stringList({ description: 'Only of these hosts; null: of all.' }),
      profile: t.field({ type: EndpointProfile, description: 'How much it is told; left out: `DETAILED`.' }),
      description: t.string({ description: 'What it is for, at most 200 characters.' }),
    }),
  }),
  schema: z.object({ url: line(2_048), channel: optional(z.enum(['raw', 'slack', 'discord', 'teams'])), ...settings }),
  payload: CreateEndpointPayload,
  changed: { field: 'endpoint', type: EndpointType, idOf: ({ endpointId }) => endpointId },
  change: (deps, call, { url, ...rest }) => createSiteEndpoint(deps, call, { url, ...(given(rest) as object) }),
});

/** What an endpoint is after a change. */
interface ChangedEndpoint {
  readonly endpointId: string;
  readonly enabled: boolean;
  readonly profile: 'detailed' | 'summary';
}

function endpointPayload(name: string, description: string) {
  return builder.objectRef<ChangedEndpoint>(name).implement({
    description,
    fields: (t) => ({
      endpointId: t.exposeID('endpointId', { description: 'The endpoint.' }),
      enabled: t.exposeBoolean('enabled', { description: 'Whether events are delivered to it.' }),
      profile: t.field({ type: EndpointProfile, description: 'How much it is told.', resolve: ({ profile }) => profile }),
    }),
  });
}

ownerMutation('updateEndpoint', {
  description: 'Changes a webhook endpoint; what is left out stays. A new profile takes effect on deliveries made from then on.',
  input: builder.inputType('UpdateEndpointInput', {
    description: 'What to change of an endpoint.',
    fields: (t) => ({
      tenantId: t.id(TENANT_ID),
      endpointId: t.id({ required: true, description: 'The endpoint.' }),
      eventTypes: t.field({ type: [EventTypeName], description: 'What it hears of.' }),
      hostFilter: t.stringList({ description: 'Only of these hosts; null: of all.' }),
      profile: t.field({ type: EndpointProfile, description: 'How much it is told.' }),
      description: t.string({ description: 'What it is for, at most 200 characters.' }),
    }),
  }),
  schema: z.object({ endpointId: id('webhook endpoint'), ...settings }),
  payload: endpointPayload('UpdateEndpointPayload', 'An endpoint as it is now.'),
  changed: { field: 'endpoint', type: EndpointType, idOf: ({ endpointId }) => endpointId },
  change: (deps, call, { endpointId, ...rest }) =>
    changeSiteEndpoint(deps, call, endpointId, { ...(given(rest) as EndpointChange), action: 'endpoint.update' }),
});

for (const [name, enabled, about] of [
  ['enableEndpoint', true, 'Enables a webhook endpoint and forgets its failures.'],
  ['disableEndpoint', false, 'Disables a webhook endpoint: its open deliveries fail, events made from now on are not for it.'],
] as const) {
  const title = `${name[0]?.toUpperCase()}${name.slice(1)}`;
  ownerMutation(name, {
    description: `${about} Again: changes nothing.`,
    input: builder.inputType(`${title}Input`, {
      description: 'The endpoint meant.',
      fields: (t) => ({ tenantId: t.id(TENANT_ID), endpointId: t.id({ required: true, description: 'The endpoint.' }) }),
    }),
    schema: z.object({ endpointId: id('webhook endpoint') }),
    payload: endpointPayload(`${title}Payload`, 'An endpoint as it is now.'),
    changed: { field: 'endpoint', type: EndpointType, idOf: ({ endpointId }) => endpointId },
    change: (deps, call, { endpointId }) =>
      changeSiteEndpoint(deps, call, endpointId, { enabled, action: enabled ? 'endpoint.enable' : 'endpoint.disable' }),
  });
}

const DeleteEndpointPayload = builder.objectRef<{ readonly endpointId: string }>('DeleteEndpointPayload').implement({
  description: 'An endpoint that is gone.',
  fields: (t) => ({ endpointId: t.exposeID('endpointId', { description: 'The endpoint.' }) }),
});

ownerMutation('deleteEndpoint', {
  description: 'Deletes a webhook endpoint: its open deliveries fail, its log stays.',
  input: builder.inputType('DeleteEndpointInput', {
    description: 'An endpoint to delete.',
    fields: (t) => ({ tenantId: t.id(TENANT_ID), endpointId: t.id({ required: true, description: 'The endpoint.' }) }),
  }),
  schema: z.object({ endpointId: id('webhook endpoint') }),
  payload: DeleteEndpointPayload,
  deleted: { type: EndpointType, idOf: ({ endpointId }) => endpointId },
  change: async (deps, call, { endpointId }) => {
    await deleteSiteEndpoint(deps, call, endpointId);
    return { endpointId };
  },
});

const RotateEndpointSecretPayload = builder
  .objectRef<{ readonly endpointId: string; readonly secret: string }>('RotateEndpointSecretPayload')
  .implement({
    description: 'A new secret of an endpoint.',
    fields: (t) => ({
      endpointId: t.exposeID('endpointId', { description: 'The endpoint.' }),
      secret: t.exposeString('secret', { description: 'The new secret. It is shown this once and cannot be read again.' }),
    }),
  });

ownerMutation('rotateEndpointSecret', {
  description: 'Gives an endpoint a new secret; for a while the one before signs too.',
  input: builder.inputType('RotateEndpointSecretInput', {
    description: 'Whose secret, and for how long the one before signs.',
    fields: (t) => ({
      tenantId: t.id(TENANT_ID),
      endpointId: t.id({ required: true, description: 'The endpoint.' }),
      overlapMs: t.int({
        description: 'How long the secret before signs too, in ms; left out: 24 hours; 0 for one that leaked.',
      }),
    }),
  }),
  schema: z.object({ endpointId: id('webhook endpoint'), overlapMs: optional(z.number().int()) }),
  payload: RotateEndpointSecretPayload,
  changed: { field: 'endpoint', type: EndpointType, idOf: ({ endpointId }) => endpointId },
  change: async (deps, call, { endpointId, overlapMs }) => ({
    endpointId,
    ...(await rotateSiteSecret(deps, call, endpointId, overlapMs)),
  }),
});
