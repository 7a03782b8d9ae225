/** The GraphQL endpoint itself, with all of GraphQL: what `graphql.ts` loads when somebody asks. */
import { Worker } from 'node:worker_threads';
import type { AddressReader } from '../../api/address.ts';
import { rateHandler } from '../../api/rated.ts';
import type { Handler } from '../../api/router.ts';
import { urlsOfHosts } from '../../db/primary.ts';
import type { GraphqlDeps } from '../../graphql/request/context.ts';
import { openEngine } from '../../graphql/request/engine.ts';
import { bearerOf, createGraphqlHandler, sendError } from '../../graphql/request/handler.ts';
import { openQueryThread } from '../../graphql/thread/host.ts';
import type { Outbound } from '../../platform/outbound/outbound.ts';
import type { Rates } from '../../platform/pacing/rates.ts';
import type { ApiConfig } from '../config.ts';
import type { ThreadSettings } from './graphqlThread.ts';

/** What GraphQL shares with the rest of the API. */
export type Shared = Omit<GraphqlDeps, 'oidc' | 'signUp' | 'outbound'> & {
  readonly outbound: Outbound;
  readonly rates: Rates;
  readonly addressOf: AddressReader;
};

/** How long one statement of a query may take. */
const STATEMENT_TIMEOUT_MS = 5_000;
/** Memory of the thread; a query that takes it all ends the thread, and nothing else. */
const MEMORY_MB = 256;
const YOUNG_GENERATION_MB = 32;

/** Starts the thread of GraphQL: what it is told is all it gets, and beyond its memory it ends. */
export function startThread(settings: ThreadSettings): Worker {
  const { NODE_COMPILE_CACHE } = process.env; // the folder of compiled code: no thread takes it over by itself
  const env = NODE_COMPILE_CACHE === undefined ? {} : { NODE_COMPILE_CACHE };
  return new Worker(new URL('graphqlThread.ts', import.meta.url), {
    workerData: settings,
    env,
    execArgv: [],
    name: 'graphql',
    resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB, maxYoungGenerationSizeMb: YOUNG_GENERATION_MB },
  });
}

/** An open endpoint. */
export interface GraphqlEndpoint {
  /** Under the rates of its caller. */
  readonly handle: Handler;
  /** For an owner whom the console's session let in: the same turns, and rates counted once inside. */
  readonly counted: ReturnType<typeof createGraphqlHandler>;
  close(): Promise<void>;
}

/**
 * Opens it: questions are executed in a thread with its own pool of connections, changes on this loop. Rejects when the thread
 * cannot reach its database.
 */
export async function openEndpoint(
  config: ApiConfig,
  deps: Shared & Pick<GraphqlDeps, 'oidc' | 'signUp'>,
): Promise<GraphqlEndpoint> {
  const pool = {
    // Past a pooler: the session and its limit on statements belong to the connection.
    url: config.databaseDirectUrl ?? config.databaseUrl,
    poolSize: config.graphqlPoolSize,
    statementTimeoutMs: STATEMENT_TIMEOUT_MS,
  };
  const networkIds = deps.networks.ids;
  const { pepper, priceFloorMicro } = deps;
  const readUrls = config.databaseReadUrl === undefined ? [] : urlsOfHosts(config.databaseReadUrl);
  const settings = { pool, readUrls, pepper, networkIds, priceFloorMicro };
  const thread = await openQueryThread({
    start: () => startThread(settings),
    log: deps.log,
    metrics: deps.metrics,
  });
  const change = openEngine({ ...deps, reading: deps.database, networkIds }, deps);
  const isPageOn = config.graphiql ?? config.environment !== 'production';
  const page = isPageOn ? { key: config.graphiqlToken ?? null } : null;
  const counted = createGraphqlHandler(deps, { ask: thread.ask, change }, page);
  const handle = rateHandler(counted, { ...deps, bearerOf, refuse: (response, error) => sendError(deps, response, error) });
  return { handle, counted, close: () => thread.close() };
}
