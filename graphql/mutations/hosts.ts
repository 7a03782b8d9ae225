import { z } from 'zod';
import type { ChallengeView, CheckReason } from '../../modules/hosts/rules/challenge.ts';
import { CHALLENGE_METHODS } from '../../modules/hosts/rules/challenge.ts';
import { checkSiteHost, openSiteHost, removeSiteHost } from '../../modules/hosts/use/manageHosts.ts';
import { ServiceError } from '../../modules/kernel/errors.ts';
import { builder } from '../schema/builder.ts';
import { ProofMethod } from '../schema/enums.ts';
import { CheckReasonName } from '../schema/words.ts';
import { HostType } from '../types/hosts.ts';
import { line, optional, ownerMutation, TENANT_ID } from './field.ts';

const MAX_HOST_CHARS = 253;

/** One fact of what to show on a host. */
export const PresentEntry = builder.objectRef<{ readonly name: string; readonly value: string }>('PresentEntry').implement({
  description: 'One fact of what to show on the host.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'For example `type`, `name`, `value`, `url`, `body`, `html`.' }),
    value: t.exposeString('value', { description: 'What it is to be.' }),
  }),
});

const OpenHostPayload = builder.objectRef<ChallengeView>('OpenHostPayload').implement({
  description: 'The open challenge of a host.',
  fields: (t) => ({
    host: t.string({ description: 'The host.', resolve: ({ host }) => host }),
    present: t.field({
      type: [PresentEntry],
      description: 'What to show on the host, so that a check finds it.',
      resolve: ({ present }) => Object.entries(present).map(([name, value]) => ({ name, value: String(value) })),
    }),
  }),
});

ownerMutation('openHost', {
  description:
    'Opens the challenge of a host, or returns the open one under this method. Checked automatically from a minute later on.',
  input: builder.inputType('OpenHostInput', {
    description: 'A host to prove.',
    fields: (t) => ({
      tenantId: t.id(TENANT_ID),
      host: t.string({ required: true, description: 'A host name of the site.' }),
      method: t.field({ type: ProofMethod, description: 'How to prove it; left out: `WELL_KNOWN`.' }),
    }),
  }),
  schema: z.object({ host: line(MAX_HOST_CHARS), method: optional(z.enum(CHALLENGE_METHODS)) }),
  payload: OpenHostPayload,
  changed: { field: 'changedHost', type: HostType, idOf: ({ host }) => host },
  change: async (deps, call, { host, method }) => {
    const outcome = await openSiteHost(deps, call, { host, method: method ?? 'well-known' });
    if (outcome.kind === 'opened') return outcome.challenge;
    const isOurs = outcome.kind === 'host_already_added';
    throw new ServiceError('conflict', isOurs ? 'the site has proven this host already' : 'another site has proven this host');
  },
});

const CheckHostPayload = builder
  .objectRef<{ readonly host: string; readonly verified: boolean; readonly reason: CheckReason | null }>('CheckHostPayload')
  .implement({
    description: 'What a check of a host found.',
    fields: (t) => ({
      host: t.exposeString('host', { description: 'The host.' }),
      verified: t.exposeBoolean('verified', { description: "True when the host is proven to be the site's." }),
      reason: t.field({ type: CheckReasonName, nullable: true, description: 'Why not.', resolve: ({ reason }) => reason }),
    }),
  });

ownerMutation('checkHost', {
  description: 'Checks a host now, within the caps on checks.',
  input: builder.inputType('CheckHostInput', {
    description: 'A host to check.',
    fields: (t) => ({ tenantId: t.id(TENANT_ID), host: t.string({ required: true, description: 'The host.' }) }),
  }),
  schema: z.object({ host: line(MAX_HOST_CHARS) }),
  payload: CheckHostPayload,
  changed: { field: 'changedHost', type: HostType, idOf: ({ host }) => host },
  change: async (deps, call, { host }) => {
    const checked = await checkSiteHost(deps, call, host);
    const { outcome } = checked;
    return { host: checked.host, verified: outcome.verified, reason: outcome.verified ? null : outcome.reason };
  },
});

const RemoveHostPayload = builder.objectRef<{ readonly host: string }>('RemoveHostPayload').implement({
  description: "A host that is not the site's any more.",
  fields: (t) => ({ host: t.exposeString('host', { description: 'The host.' }) }),
});

ownerMutation('removeHost', {
  description: 'Removes a host: nothing is quoted for it any more. What it earned stays. For 72 hours only DNS proves it again.',
  input: builder.inputType('RemoveHostInput', {
    description: 'A host to remove.',
    fields: (t) => ({ tenantId: t.id(TENANT_ID), host: t.string({ required: true, description: 'The host.' }) }),
  }),
  schema: z.object({ host: line(MAX_HOST_CHARS) }),
  payload: RemoveHostPayload,
  deleted: { type: HostType, idOf: ({ host }) => host },
  change: (deps, call, { host }) => removeSiteHost(deps, call, host),
});
