import type { RequestListener } from 'node:http';
import { createOidcVerifier } from '../../adapters/oidc.ts';
import type { Outbound } from '../../adapters/outbound.ts';
import { createSecretBox } from '../../adapters/secretBox.ts';
import { API_VERSION, pathOf, requestIdOf } from '../../api/door.ts';
import { openReadingDatabase } from '../../db/graph/reading.ts';
import type { GraphqlDeps } from '../../graphql/context.ts';
import { createGraphqlDoor, GRAPHQL_PATH } from '../../graphql/door.ts';
import type { ApiConfig } from '../config.ts';

type Shared = Omit<GraphqlDeps, 'reading' | 'temporalUi' | 'oidc' | 'secretBox' | 'outbound'> & { readonly outbound: Outbound };

/** The GraphQL door beside the REST door: its own pool of database connections, and what only it needs. */
export async function openGraphql(
  config: ApiConfig,
  deps: Shared,
): Promise<{ readonly before: (rest: RequestListener) => RequestListener; readonly close: () => Promise<void> }> {
  const reading = await openReadingDatabase({
    url: config.databaseReadUrl ?? config.databaseUrl,
    poolSize: config.graphqlPoolSize,
    statementTimeoutMs: config.graphqlStatementTimeoutMs,
  });
  const { oidcIssuer: issuer, oidcAudience: audience, temporalUiUrl } = config;
  const oidc =
    issuer === undefined || audience === undefined
      ? null
      : createOidcVerifier({ issuer, audience, outbound: deps.outbound, clock: deps.clock });
  const temporalUi = temporalUiUrl === undefined ? null : { url: temporalUiUrl, namespace: config.temporalNamespace };
  const isPageOn = config.graphiql ?? config.environment !== 'production';
  const door = createGraphqlDoor(
    { ...deps, reading, oidc, temporalUi, secretBox: createSecretBox(config.secretsKey) },
    isPageOn ? { key: config.graphiqlToken ?? null } : null,
  );
  return {
    before: (rest) => (request, response) => {
      if (pathOf(request) !== GRAPHQL_PATH) return rest(request, response);
      response.setHeader('x-request-id', requestIdOf(request));
      response.setHeader('svc-api-version', API_VERSION);
      void door(request, response);
    },
    close: () => reading.close(),
  };
}
