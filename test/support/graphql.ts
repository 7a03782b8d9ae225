/** The GraphQL endpoint beside the REST API, on a real Postgres; statements of its reading pool are counted. */
import { randomBytes } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'vitest';
import { rateHandler } from '../../api/rated.ts';
import type { Database, Sql } from '../../db/database.ts';
import { openEngine } from '../../graphql/request/engine.ts';
import { bearerOf, createGraphqlHandler, sendError } from '../../graphql/request/handler.ts';
import { GRAPHQL_PATH } from '../../graphql/request/path.ts';
import { openQueryThread } from '../../graphql/thread/host.ts';
import { createOwnerToken } from '../../modules/identity/use/owners/tokens.ts';
import { openReadingDatabase } from '../../modules/reports/store/pools.ts';
import { createOutbound } from '../../platform/outbound/outbound.ts';
import { openHeavyWork } from '../../platform/pacing/heavy.ts';
import type { RateLimits } from '../../platform/pacing/rates.ts';
import { createSecretBox } from '../../platform/tokens/secretBox.ts';
import { startThread } from '../../process/api/graphqlEndpoint.ts';
import { startTestApi } from './api.ts';
import { PATIENT_MS } from './parts.ts';

/** An answer of the endpoint. */
export interface GraphAnswer {
  readonly status: number;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: answers of many shapes
  readonly data: any;
  // biome-ignore lint/suspicious/noExplicitAny: as above
  readonly extensions: any;
  readonly errors: readonly {
    readonly message: string;
    readonly path?: readonly (string | number)[];
    readonly extensions: {
      readonly code: string;
      readonly reason?: string;
      readonly limit?: string;
      readonly upgrade?: boolean;
    };
  }[];
}

/** Sends a query with a bearer and reads the answer. */
export async function askGraph(
  url: string,
  bearer: string | null,
  query: string,
  variables: Readonly<Record<string, unknown>> = {},
): Promise<GraphAnswer> {
  return await sendGraph(url, bearer, JSON.stringify({ query, variables }));
}

/** Sends any body. */
export async function sendGraph(
  url: string,
  bearer: string | null,
  body: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<GraphAnswer> {
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(bearer === null ? {} : { authorization: `Bearer ${bearer}` }),
      ...headers,
    },
    body,
  });
  const text = await response.text();
  const { data = null, errors = [], extensions = null } = JSON.parse(text);
  return { status: response.status, text, data, errors, extensions };
}

/** What no answer may ever hold: a status of 500, a stack, SQL. */
export function expectClean(graph: Awaited<ReturnType<typeof startTestGraphql>>, answer: GraphAnswer): void {
  expect(answer.status).toBeLessThan(500);
  expect(answer.text).not.toMatch(/node_modules|\.ts:\d|\.js:\d|at async|select |stack|originalError/i);
  expect(graph.api.problems).toEqual([]);
}

/**
 * Starts both APIs; `count()` gives the statements since it was called last. With `isThreaded` questions are executed in the thread
 * of the service, and no statements are counted.
 */
export async function startTestGraphql({
  isThreaded = false,
  rates,
}: {
  readonly isThreaded?: boolean;
  readonly rates?: RateLimits;
} = {}) {
  const api = await startTestApi(rates ? { rates } : {});
  const outbound = createOutbound({ allowLoopback: true });
  const settings = { url: api.urls.appUrl, poolSize: 2, statementTimeoutMs: PATIENT_MS };
  const pool = await openReadingDatabase(settings);
  let statements = 0;
  const counted = (sql: Sql): Sql => ({
    query: (statement, values) => {
      statements++;
      return sql.query(statement, values);
    },
  });
  const reading: Database = {
    ...pool,
    query: counted(pool).query,
    transaction: (work, isolation) => pool.transaction((sql) => work(counted(sql)), isolation),
  };
  const secretBox = createSecretBox(randomBytes(32));
  const connections = { reports: 6, questions: settings.poolSize };
  const heavy = openHeavyWork({ connections, cores: 4 }); // two questions of a site at once, whatever machine this is
  const deps = { ...api.deps, outbound, secretBox, oidc: null, heavy };
  const { networks, pepper, priceFloorMicro } = api.deps;
  const networkIds = networks.ids;
  const reads = { ...api.deps, reading, networkIds };
  const start = () => startThread({ pepper, priceFloorMicro, networkIds, pool: settings });
  const thread = isThreaded ? await openQueryThread({ start, log: api.deps.log }) : null;
  const engines = { ask: thread?.ask ?? openEngine(reads, null), change: openEngine(reads, deps) };
  const handler = createGraphqlHandler(deps, engines, { key: null });
  const bare = createGraphqlHandler(deps, engines, null);
  const refuse = (response: ServerResponse, error: unknown): void => sendError(deps, response, error);
  const rated = api.deps.rates
    ? rateHandler(handler, { ...api.deps, rates: api.deps.rates, addressOf: () => '192.0.2.1', bearerOf, refuse })
    : handler;
  const server = createServer((request, response) => {
    void (request.url?.startsWith('/bare') ? bare : rated)(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}${GRAPHQL_PATH}`;
  return {
    api,
    url,
    reading,
    /** While it works, a question's statement may take two seconds. */
    inAHurry: async <T>(work: () => Promise<T>): Promise<T> => {
      const onBoth = (statement: string) => Promise.all([reading.query(statement), reading.query(statement)]);
      await onBoth("set statement_timeout = '2s'");
      try {
        return await work();
      } finally {
        await onBoth('reset statement_timeout');
      }
    },
    secretBox,
    outbound,
    ask: (bearer: string | null, query: string, variables = {}) => askGraph(url, bearer, query, variables),
    owner: async (tenantId: string, userId = 'owner') =>
      (await createOwnerToken({ database: api.deps.database, pepper: api.deps.pepper }, { tenantId, userId })).token,
    count: () => {
      const seen = statements;
      statements = 0;
      return seen;
    },
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await thread?.close();
      await pool.close();
      await outbound.close();
      await api.stop();
    },
  };
}
