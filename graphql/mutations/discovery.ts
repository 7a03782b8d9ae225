import { z } from 'zod';
import { setSiteDiscovery } from '../../modules/discovery/use/manageDiscovery.ts';
import { builder } from '../schema/builder.ts';
import type { Discovery } from '../types/discovery.ts';
import { DiscoveryType, NOT_LISTED } from '../types/discovery.ts';
import { IF_VERSION, line, ownerMutation, TENANT_ID } from './field.ts';

const SetDiscoveryPayload = builder.objectRef<Discovery>('SetDiscoveryPayload').implement({
  description: 'How the site is found from now on; the list shows it within a minute.',
  fields: (t) => ({
    discovery: t.field({ type: DiscoveryType, description: 'What it says of itself.', resolve: (payload) => payload }),
  }),
});

ownerMutation('setDiscovery', {
  description:
    'Puts the site into the public list of what agents can buy, and its pages into their search, or takes both out. Its documents at its own address are there either way.',
  input: builder.inputType('SetDiscoveryInput', {
    description: 'Whether the site wants to be found, and what it says of itself.',
    fields: (t) => ({
      tenantId: t.id(TENANT_ID),
      ifVersion: t.int(IF_VERSION),
      summary: t.string({ description: 'What the site writes of, at most 300 characters; null: it is not in the list.' }),
      relay: t.boolean({
        description:
          'Whether the text of a page is relayed over MCP to buyers with a licence for it; left out: unchanged, and off at first.',
      }),
      tags: t.stringList({ description: 'At most 5 words of at most 32 printable characters.' }),
    }),
  }),
  schema: z.object({
    summary: line(300).nullish(),
    relay: z.boolean().nullish(),
    tags: z.array(z.string()).max(5, 'has more than 5 entries').nullish(),
  }),
  payload: SetDiscoveryPayload,
  change: async (deps, call, { summary, tags, relay }) => {
    const listing =
      summary === null || summary === undefined
        ? null
        : { summary, tags: tags ?? [], ...(typeof relay === 'boolean' ? { relays: relay } : {}) };
    return (await setSiteDiscovery(deps, call, listing)) ?? NOT_LISTED;
  },
});
