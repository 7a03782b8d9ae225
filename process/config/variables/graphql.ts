import { flag, text } from '../parsers.ts';
import { optional } from '../variable.ts';

/** The GraphQL endpoint. */
export const graphql = {
  graphiql: optional({
    name: 'GRAPHIQL',
    about: 'Whether a browser gets the GraphiQL page at /_svc/graphql. Not set: everywhere but in production.',
    example: 'true',
    schema: flag,
  }),
  graphiqlToken: optional({
    name: 'GRAPHIQL_TOKEN',
    about: 'A credential that the GraphiQL page fills in, for sample data alone; refused in production.',
    example: 'svc_owner_…',
    fromFile: true,
    schema: text,
  }),
};
