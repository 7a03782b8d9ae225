import { z } from 'zod';
import { setSiteDiscovery } from '../../services/site/discovery.ts';
import { builder } from '../schema/builder.ts';
import { DiscoveryType } from '../types/discovery.ts';
import { IF_VERSION, line, ownerMutation, TENANT_ID } from './field.ts';

const SetDiscoveryPayload = builder
  .objectRef<{ readonly summary: string | null; readonly tags: readonly string[] }>('SetDiscoveryPayload')
  .implement({
    description: 'How the site is found from now on; the list shows it within a minute.',
    fields: (t) => ({
      discovery: t.field({ type: DiscoveryType, description: 'What it says of itself.', resolve: (payload) => payload }),
    }),
  });

ownerMutation('setDiscovery', {
  description:
    'Puts the site into the public list of what agents can buy, or takes it out. Its documents at its own address are there either way.',
  input: builder.inputType('SetDiscoveryInput', {
    description: 'Whether the site wants to be found, and what it says of itself.',
    fields: (t) => ({
      tenantId: t.id(TENANT_ID),
      ifVersion: t.int(IF_VERSION),
      summary: t.string({ description: 'What the site writes of, at most 300 characters; null: it is not in the list.' }),
      tags: t.stringList({ description: 'At most 5 words of at most 32 printable characters.' }),
    }),
  }),
  schema: z.object({
    summary: line(300).nullish(),
    tags: z.array(z.string()).max(5, 'has more than 5 entries').nullish(),
  }),
  payload: SetDiscoveryPayload,
  change: async (deps, call, { summary, tags }) => {
    const listing = summary === null || summary === undefined ? null : { summary, tags: tags ?? [] };
    await setSiteDiscovery(deps, call, listing);
    return listing ?? { summary: null, tags: [] };
  },
});
