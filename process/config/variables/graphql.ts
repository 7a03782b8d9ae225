import { flag, text, wholeNumber } from '../parsers.ts';
import { optional, withDefault } from '../variable.ts';

/** The GraphQL endpoint. */
export const graphql = {
  graphqlPoolSize: withDefault({
    name: 'GRAPHQL_POOL_SIZE',
    about: 'Connections to Postgres per API process that GraphQL reads through, besides those of everything else.',
    example: '2',
    fallback: '2',
    schema: wholeNumber(1, 50),
  }),
  graphqlStatementTimeoutMs: withDefault({
    name: 'GRAPHQL_STATEMENT_TIMEOUT_MS',
    about: 'How long one statement of a GraphQL query may take, in milliseconds.',
    example: '5000',
    fallback: '5000',
    schema: wholeNumber(100, 60_000),
  }),
  graphqlMemoryMb: withDefault({
    name: 'GRAPHQL_MEMORY_MB',
    about:
      'Memory of the thread that executes GraphQL queries, in MiB; a query that takes it all ends the thread, and nothing else.',
    example: '256',
    fallback: '256',
    schema: wholeNumber(64, 4_096),
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
