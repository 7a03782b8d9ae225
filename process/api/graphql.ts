import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { API_VERSION, pathOf, requestIdOf } from '../../api/handler.ts';
import { isDatabaseOutage } from '../../db/outage.ts';
import { GRAPHQL_PATH } from '../../graphql/request/path.ts';
import type { Owner } from '../../modules/identity/use/owners/authenticate.ts';
import { beginInTurn } from '../../platform/pacing/eventLoop.ts';
import type { OidcVerifier } from '../../platform/tokens/oidc.ts';
import { createOidcVerifier } from '../../platform/tokens/oidc.ts';
import type { ApiConfig } from '../config.ts';
import { reasonOf } from '../whileAway.ts';
import type { GraphqlEndpoint, Shared } from './graphqlEndpoint.ts';
import { signUpOf } from './signUp.ts';
import { openWhenAsked } from './whenAsked.ts';

/** The GraphQL endpoint, and what the console shares with it. */
interface OpenGraphql {
  readonly before: (rest: RequestListener) => RequestListener;
  /** For an owner whom the console's session let in: the same turns, rates and limits. */
  readonly answerGraphql: (request: IncomingMessage, response: ServerResponse, owner: Owner) => Promise<void>;
  readonly oidc: OidcVerifier | null;
  readonly close: () => Promise<void>;
}

/**
 * The GraphQL endpoint beside the REST API. GraphQL is half of what an API loads: in production it is open before the first call, unless its
 * database is away; then, and elsewhere, it opens for the first who asks (`openWhenAsked`). Rejects when it cannot be opened
 * for another reason.
 */
export async function openGraphql(config: ApiConfig, deps: Shared): Promise<OpenGraphql> {
  const { oidcIssuer: issuer, oidcAudience: audience } = config;
  const oidc =
    issuer === undefined || audience === undefined
      ? null
      : createOidcVerifier({ issuer, audience, outbound: deps.outbound, clock: deps.clock });
  const endpoint = openWhenAsked<GraphqlEndpoint>(
    async () => (await import('./graphqlEndpoint.ts')).openEndpoint(config, { ...deps, oidc, signUp: signUpOf(config) }),
    (opened) => opened.close(),
  );
  if (config.environment === 'production') {
    await endpoint.open().catch((error: unknown) => {
      if (!isDatabaseOutage(error)) throw error;
      deps.log.warn(
        { part: 'database', error: reasonOf(error) },
        'the database that GraphQL reads is away: GraphQL answers 503 until it is back',
      );
    });
  }
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { handle } = await endpoint.open();
    beginInTurn(() => (request.destroyed ? undefined : handle(request, response)));
  };
  return {
    before: (rest) => (request, response) => {
      if (pathOf(request) !== GRAPHQL_PATH) return rest(request, response);
      response.setHeader('x-request-id', requestIdOf(request));
      response.setHeader('svc-api-version', API_VERSION);
      answer(request, response).catch((error: unknown) => {
        deps.log.error({ err: error }, 'GraphQL cannot be opened');
        response.writeHead(503, { 'retry-after': '2', 'cache-control': 'private, no-store' }).end();
      });
    },
    answerGraphql: async (request, response, owner) => (await endpoint.open()).counted(request, response, owner),
    oidc,
    close: endpoint.close,
  };
}
