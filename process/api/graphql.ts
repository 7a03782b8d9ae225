import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { Worker } from 'node:worker_threads';
import type { Outbound } from '../../adapters/outbound/outbound.ts';
import type { OidcVerifier } from '../../adapters/tokens/oidc.ts';
import { createOidcVerifier } from '../../adapters/tokens/oidc.ts';
import type { AddressReader } from '../../api/address.ts';
import { API_VERSION, pathOf, requestIdOf } from '../../api/handler.ts';
import { rateHandler } from '../../api/rated.ts';
import type { GraphqlDeps } from '../../graphql/request/context.ts';
import { GRAPHQL_PATH, openEngine } from '../../graphql/request/engine.ts';
import { bearerOf, createGraphqlHandler, sendError } from '../../graphql/request/handler.ts';
import { openQueryThread } from '../../graphql/thread/host.ts';
import type { Owner } from '../../services/owners/authenticate.ts';
import type { Rates } from '../../services/pacing/rates.ts';
import type { ApiConfig } from '../config.ts';
import type { ThreadSettings } from './graphqlThread.ts';
import { signUpOf } from './signUp.ts';

type Shared = Omit<GraphqlDeps, 'oidc' | 'signUp' | 'outbound'> & {
  readonly outbound: Outbound;
  readonly rates: Rates;
  readonly addressOf: AddressReader;
};

const YOUNG_GENERATION_MB = 32;

/** Starts the thread of GraphQL: what it is told is all it gets, and beyond its memory it ends. */
export function startThread(settings: ThreadSettings, memoryMb: number): Worker {
  const { NODE_COMPILE_CACHE } = process.env; // the folder of compiled code: no thread takes it over by itself
  const env = NODE_COMPILE_CACHE === undefined ? {} : { NODE_COMPILE_CACHE };
  return new Worker(new URL('graphqlThread.ts', import.meta.url), {
    ...{ workerData: settings, env, execArgv: [], name: 'graphql' },
    resourceLimits: { maxOldGenerationSizeMb: memoryMb, maxYoungGenerationSizeMb: YOUNG_GENERATION_MB },
  });
}

/** The GraphQL endpoint, and what the console shares with it. */
interface OpenGraphql {
  readonly before: (rest: RequestListener) => RequestListener;
  /** For an owner whom the console's session let in: the same turns, rates and limits. */
  readonly answerGraphql: (request: IncomingMessage, response: ServerResponse, owner: Owner) => Promise<void>;
  readonly oidc: OidcVerifier | null;
  readonly close: () => Promise<void>;
}

/**
 * The GraphQL endpoint beside the REST API. Questions are executed in a thread with its own pool of connections, changes on this loop.
 * Rejects when the thread cannot reach its database.
 */
export async function openGraphql(config: ApiConfig, deps: Shared): Promise<OpenGraphql> {
  const { oidcIssuer: issuer, oidcAudience: audience, temporalUiUrl } = config;
  const oidc =
    issuer === undefined || audience === undefined
      ? null
      : createOidcVerifier({ issuer, audience, outbound: deps.outbound, clock: deps.clock });
  const temporalUi = temporalUiUrl === undefined ? null : { url: temporalUiUrl, namespace: config.temporalNamespace };
  const pool = {
    url: config.databaseReadUrl ?? config.databaseUrl,
    poolSize: config.graphqlPoolSize,
    statementTimeoutMs: config.graphqlStatementTimeoutMs,
  };
  const networkIds = deps.networks.ids;
  const { pepper, priceFloorMicro } = deps;
  const settings = { pool, pepper, temporalUi, networkIds, priceFloorMicro };
  const thread = await openQueryThread({
    start: () => startThread(settings, config.graphqlMemoryMb),
    ...{ log: deps.log, metrics: deps.metrics },
  });
  const graphqlDeps = { ...deps, oidc, signUp: signUpOf(config) };
  const change = openEngine({ ...graphqlDeps, reading: deps.database, temporalUi, networkIds }, graphqlDeps);
  const isPageOn = config.graphiql ?? config.environment !== 'production';
  const page = isPageOn ? { key: config.graphiqlToken ?? null } : null;
  const counted = createGraphqlHandler(graphqlDeps, { ask: thread.ask, change, connections: pool.poolSize }, page);
  const handle = rateHandler(counted, { ...deps, bearerOf, refuse: (response, error) => sendError(deps, response, error) });
  return {
    before: (rest) => (request, response) => {
      if (pathOf(request) !== GRAPHQL_PATH) return rest(request, response);
      response.setHeader('x-request-id', requestIdOf(request));
      response.setHeader('svc-api-version', API_VERSION);
      void handle(request, response);
    },
    answerGraphql: counted,
    oidc,
    close: () => thread.close(),
  };
}
