import { z } from 'zod';
import type { NetworkChoice } from '../../modules/tenants/use/manageNetworks.ts';
import { setSiteNetworks } from '../../modules/tenants/use/manageNetworks.ts';
import { builder } from '../schema/builder.ts';
import { NetworkChoiceType } from '../types/networks.ts';
import { IF_VERSION, ownerMutation, TENANT_ID } from './field.ts';

const SetNetworksPayload = builder.objectRef<{ readonly choice: NetworkChoice }>('SetNetworksPayload').implement({
  description: 'On which chains the site takes payments from now on.',
  fields: (t) => ({
    networks: t.field({ type: NetworkChoiceType, description: 'Taken, and configured.', resolve: ({ choice }) => choice }),
  }),
});

ownerMutation('setNetworks', {
  description:
    'Sets on which chains the site takes payments. Payments of any other are refused at once, those of quotes made before too; what was taken before settles.',
  input: builder.inputType('SetNetworksInput', {
    description: 'At least one of those configured.',
    fields: (t) => ({
      tenantId: t.id(TENANT_ID),
      ifVersion: t.int(IF_VERSION),
      networks: t.stringList({
        required: true,
        description: 'Chains (CAIP-2); the order of offers is ours, the cheapest first.',
      }),
    }),
  }),
  schema: z.object({ networks: z.array(z.string().max(64, 'is longer than 64')).max(20, 'has more than 20 entries') }),
  payload: SetNetworksPayload,
  change: async (deps, call, { networks }) => ({ choice: await setSiteNetworks(deps, call, networks) }),
});
