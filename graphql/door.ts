import type { IncomingMessage, ServerResponse } from 'node:http';
import type { YogaServerInstance } from 'graphql-yoga';
import { createYoga } from 'graphql-yoga';
import { LRUCache } from 'lru-cache';
import { isServiceError, ServiceError } from '../domain/errors.ts';
import { noteRefusal } from '../services/answers/note.ts';
import { findKey } from '../services/keys.ts';
import { authenticateOwner, isOwnerCredential } from '../services/owners/authenticate.ts';
import { openTurns } from '../services/turns.ts';
import { readOperation } from './body.ts';
import type { GraphqlContext, GraphqlDeps } from './context.ts';
import { extensionsOf, isDefect, publicError } from './errors.ts';
import { renderPage } from './graphiql.ts';
import { QUERIES_PER_CONNECTION, REMEMBERED_DOCUMENTS, WAIT_LIMIT_MS, WAITING_LIMIT } from './limits/limits.ts';
import { limitPlugins, turnPlugin } from './limits/plugins.ts';
import { schema } from './schema.ts';

/** Where the GraphQL door is. */
export const GRAPHQL_PATH = '/_svc/graphql';

/** The page for people; `key` fills in its credential, for installations that hold nothing but sample data. */
export interface PageOptions {
  readonly key: string | null;
}

type Visitor = Pick<GraphqlContext, 'key' | 'owner' | 'requestId'>;

/**
 * The GraphQL door as a request handler: POST with a bearer, one JSON operation a request. The caller is let in before anything of
 * the body is read; scopes and plan are asked for field by field. GET gives the page for people where there is one, else 405.
 */
export function createGraphqlDoor(
  deps: GraphqlDeps,
  page: PageOptions | null,
): (request: IncomingMessage, response: ServerResponse) => Promise<void> {
  const yoga = openYoga(deps);
  const html = page === null ? null : renderPage(page.key);
  return async (request, response) => {
    try {
      if (html !== null && wantsPage(request)) sendPage(response, html);
      else if (request.method !== 'POST') refuseMethod(response, html !== null);
      else await answer(yoga, deps, request, response);
    } catch (error) {
      sendError(deps, response, error);
    }
  };
}

function openYoga(deps: GraphqlDeps) {
  const atOnce = QUERIES_PER_CONNECTION * deps.reading.pool.options.max;
  const turns = openTurns({ atOnce, mostWaiting: WAITING_LIMIT, waitMs: WAIT_LIMIT_MS });
  return createYoga<Visitor, GraphqlContext>({
    schema,
    graphqlEndpoint: GRAPHQL_PATH,
    context: ({ key, owner, requestId }) => ({ deps, key, owner, requestId }),
    maskedErrors: { maskError: publicError },
    parserAndValidationCache: { documentCache: remembering(), errorCache: remembering() },
    ...{ graphiql: false, landingPage: false, batching: false, multipart: false, cors: false, logging: false },
    plugins: [...limitPlugins(), turnPlugin(turns), logDefects(), { onResultProcess: showErrors }],
  });
}

/** Documents by their text, and what was wrong with others: few, since each may be large. */
function remembering<T extends object>() {
  return new LRUCache<string, T>({ max: REMEMBERED_DOCUMENTS });
}

/** Errors of the document itself are said in the same form as those of fields. */
function showErrors({ result, setResult }: { result: unknown; setResult: (result: object) => void }): void {
  const { errors } = result as { errors?: readonly unknown[] };
  if (errors) setResult({ ...(result as object), errors: errors.map(publicError) });
}

function logDefects() {
  return {
    onExecute: ({ args }: { args: { contextValue: GraphqlContext } }) => ({
      onExecuteDone: ({ result }: { result: unknown }) => {
        const { deps, requestId } = args.contextValue;
        const { errors = [] } = result as { errors?: readonly { originalError?: unknown; path?: readonly unknown[] }[] };
        for (const error of errors.filter(isDefect)) {
          deps.log.error({ requestId, path: error.path?.join('.'), err: error.originalError ?? error }, 'a query met a defect');
        }
      },
    }),
  };
}

async function answer(
  yoga: YogaServerInstance<Visitor, GraphqlContext>,
  deps: GraphqlDeps,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const caller = await letIn(deps, bearerOf(request));
  const body = await readOperation(request);
  const leaving = new AbortController();
  response.once('close', () => leaving.abort());
  const visitor = { ...caller, requestId: String(response.getHeader('x-request-id') ?? '') };
  const result = await yoga.fetch(
    `http://localhost${GRAPHQL_PATH}`,
    {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: acceptOf(request) },
      body,
      signal: leaving.signal,
    },
    visitor,
  );
  const text = await result.text();
  send(response, result.status, result.headers.get('content-type') ?? 'application/json; charset=utf-8', text);
}

/** Who asks. Throws missing_credential and unknown_credential (401), database_unavailable, and what `authenticateOwner` throws. */
async function letIn(deps: GraphqlDeps, bearer: string | null): Promise<Pick<Visitor, 'key' | 'owner'>> {
  if (bearer === null) {
    throw new ServiceError('missing_credential', 'an API key or an owner’s token is needed: Authorization: Bearer <key>');
  }
  if (isOwnerCredential(bearer)) return { key: null, owner: await authenticateOwner(deps, bearer) };
  const key = await findKey(deps, bearer);
  const isDead = key === null || key.revokedAtMs !== null || (key.expiresAtMs !== null && deps.clock() >= key.expiresAtMs);
  if (isDead || key.status === 'closed') throw new ServiceError('unknown_credential', 'the API key is not recognised');
  return { key, owner: null };
}

function bearerOf(request: IncomingMessage): string | null {
  return /^Bearer +([\x21-\x7e]{1,4096}) *$/i.exec(request.headers.authorization ?? '')?.[1] ?? null;
}

/** Streams are not given: an answer is one JSON document. */
function acceptOf(request: IncomingMessage): string {
  const asked = request.headers.accept ?? '';
  return asked.includes('application/graphql-response+json') ? 'application/graphql-response+json' : 'application/json';
}

function wantsPage(request: IncomingMessage): boolean {
  return (request.method === 'GET' || request.method === 'HEAD') && (request.headers.accept ?? '').includes('text/html');
}

function sendPage(response: ServerResponse, html: Buffer): void {
  response.setHeader('content-security-policy', PAGE_POLICY);
  response.setHeader('referrer-policy', 'no-referrer');
  send(response, 200, 'text/html; charset=utf-8', html);
}

/** The page is one file and talks to this door alone. */
const PAGE_POLICY =
  "default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval' blob:; worker-src blob:; style-src 'unsafe-inline'; " +
  "img-src data: blob:; font-src data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

function refuseMethod(response: ServerResponse, hasPage: boolean): void {
  response.setHeader('allow', hasPage ? 'GET, HEAD, POST' : 'POST');
  const message = 'operations are sent with POST';
  const errors = [{ message, extensions: { code: 'BAD_USER_INPUT', reason: 'method_not_allowed' } }];
  send(response, 405, 'application/json; charset=utf-8', JSON.stringify({ errors }));
}

/** Answers what stopped a request before its operation ran. */
function sendError(deps: GraphqlDeps, response: ServerResponse, error: unknown): void {
  const known = isServiceError(error) ? error : new ServiceError('internal', 'something went wrong on our side');
  noteRefusal(String(response.getHeader('x-request-id') ?? ''), known.code);
  if (known.kind === 'defect') {
    deps.log.error({ requestId: response.getHeader('x-request-id'), err: error }, 'a request met a defect');
  }
  if (response.headersSent || response.destroyed) {
    response.destroy();
    return;
  }
  const { status, headers } = statusOf(known);
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  const extensions = extensionsOf(known) ?? { code: 'INTERNAL', reason: known.code };
  const errors = [{ message: known.message, extensions }];
  send(response, status, 'application/json; charset=utf-8', JSON.stringify({ errors }));
}

function statusOf(error: ServiceError): { readonly status: number; readonly headers: Readonly<Record<string, string>> } {
  if (error.kind === 'unauthenticated') return { status: 401, headers: { 'www-authenticate': 'Bearer', connection: 'close' } };
  if (error.kind === 'unavailable') {
    return { status: 503, headers: { 'retry-after': String(error.details.retryAfterSeconds ?? 5) } };
  }
  return { status: error.kind === 'defect' ? 500 : 400, headers: { connection: 'close' } };
}

function send(response: ServerResponse, status: number, type: string, body: string | Buffer): void {
  response.writeHead(status, {
    'content-type': type,
    'content-length': Buffer.byteLength(body),
    'cache-control': 'private, no-store',
    'x-content-type-options': 'nosniff',
  });
  response.end(response.req.method === 'HEAD' ? undefined : body);
}
