import { flag, text, wholeNumber } from '../parsers.ts';
import { optional, withDefault } from '../variable.ts';

/** The GraphQL endpoint. */
export const graphql = {
  graphqlPoolSize: withDefault({
    name: 'GRAPHQL_POOL_SIZE',
    about: 'Connections to Postgres per API process for GraphQL, in addition to all others.',
    example: '2',
    fallback: '2',
    schema: wholeNumber(1, 50),
  }),
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
