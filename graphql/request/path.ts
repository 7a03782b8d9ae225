/** Where the GraphQL endpoint is. In a file of its own, for those who ask for nothing else of GraphQL. */
export const GRAPHQL_PATH = '/_svc/graphql';
