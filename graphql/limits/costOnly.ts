import { DirectiveLocation, GraphQLDirective } from 'graphql';

/** Asks for the cost of an operation alone. */
export const COST_ONLY = new GraphQLDirective({
  name: 'costOnly',
  description:
    'Says in `extensions.cost` what the operation would cost, and does nothing of it: `data` is null, and nothing is changed.',
  locations: [DirectiveLocation.QUERY, DirectiveLocation.MUTATION],
});
