import type { NetworkChoice } from '../../modules/tenants/use/manageNetworks.ts';
import { builder } from '../schema/builder.ts';

/** On which networks a site takes payments, as the query and the mutation show it. */
export const NetworkChoiceType = builder.objectRef<NetworkChoice>('NetworkChoice').implement({
  description: 'On which chains a site takes payments.',
  fields: (t) => ({
    taken: t.stringList({
      description: 'Chains (CAIP-2) it takes payments on, the cheapest first, as offers show them.',
      resolve: ({ taken }) => [...taken],
    }),
    configured: t.stringList({
      description: 'Chains (CAIP-2) it may choose from.',
      resolve: ({ configured }) => [...configured],
    }),
  }),
});
