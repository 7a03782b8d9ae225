import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { ServiceError } from '../domain/errors.ts';
import { authenticateAccount } from '../services/accounts/authenticate.ts';
import { authenticate } from '../services/publisher.ts';
import { readBody } from './body.ts';
import { asServiceError, errorAnswer } from './errors.ts';
import type { AccountRoute, Answer, AnswerStream, Call, ErrorShape, HandlerDeps, Route } from './route.ts';

/** The version of this API, on every response (decisions §4, Version policy). */
export const API_VERSION = '1.0.0';
/** After an answer, this much more of an unread body is taken in before the connection is cut. */
const MAX_DISCARDED_BYTES = 1_048_576;
const STALLED_MS = 60_000;

/** A request handler as Express takes it. */
export type Handler = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/**
 * The handler of a route. Order: credential, plan, scope → body → the route's own checks (decisions: Order of checks); nothing
 * of the body is read before the caller is let in.
 */
export function openDoor(route: Route, deps: HandlerDeps): Handler {
  return async (request, response) => {
    try {
      const answered = await answer(route, deps, request);
      if (answered.stream) await sendStream(request, response, answered, answered.stream);
      else send(request, response, answered);
    } catch (error) {
      sendError(deps, request, response, error, route.errorShape ?? 'plain');
    }
  };
}

async function answer(route: Route, deps: HandlerDeps, request: IncomingMessage): Promise<Answer> {
  if (route.access === 'public') return route.handle(await callOf(route, deps, request));
  if (isAccountRoute(route)) {
    const credential = { bearer: bearerOf(request), signInWithX: headerOf(request, 'sign-in-with-x') };
    const account = await authenticateAccount(deps, credential);
    return route.handle({ ...(await callOf(route, deps, request)), account });
  }
  const caller = await authenticate(deps, bearerOf(request), route.access, resourceOf(request));
  return route.handle({ ...(await callOf(route, deps, request)), caller });
}

async function callOf(route: Route, deps: HandlerDeps, request: IncomingMessage): Promise<Call> {
  return {
    deps,
    query: readQuery(request.url ?? ''),
    params: (request as { params?: Readonly<Record<string, string>> }).params ?? {},
    body: await readBody(request, route.bodyLimitBytes, route.bodyType),
    header: (name) => headerOf(request, name),
  };
}

function isAccountRoute(route: Route): route is AccountRoute {
  return route.access === 'account';
}

function headerOf(request: IncomingMessage, name: string): string | null {
  const value = request.headers[name];
  return (Array.isArray(value) ? value[0] : value) ?? null;
}

/** Answers an error in its shape and writes defects and outages to the log. */
export function sendError(
  deps: Pick<HandlerDeps, 'log'>,
  request: IncomingMessage,
  response: ServerResponse,
  error: unknown,
  shape: ErrorShape,
): void {
  const known = asServiceError(error);
  const entry = { requestId: response.getHeader('x-request-id'), code: known.code, path: pathOf(request) };
  if (known.kind === 'defect') deps.log.error({ ...entry, err: error }, 'a request met a defect');
  else if (known.kind === 'unavailable') deps.log.warn({ ...entry, sentence: known.message }, 'a request could not be served');
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const wantsProblem = /\bapplication\/problem\+json\b/i.test(request.headers.accept ?? '');
  send(request, response, errorAnswer(known, shape, wantsProblem));
}

/** Sends an answer; what is left of an unread body is taken in up to a limit, so that the client gets to read the answer. */
export function send(request: IncomingMessage, response: ServerResponse, { status, headers, body }: Answer): void {
  const isText = typeof body === 'string' || body instanceof Uint8Array;
  const text = body === undefined ? null : isText ? body : JSON.stringify(body);
  const type =
    text === null ? {} : { 'content-type': 'application/json; charset=utf-8', 'content-length': Buffer.byteLength(text) };
  response.writeHead(status, { ...type, ...headers });
  response.end(request.method === 'HEAD' || text === null ? undefined : text);
  if (request.complete) return;
  let discarded = 0;
  request.on('data', (chunk: Buffer) => {
    discarded += chunk.length;
    if (discarded > MAX_DISCARDED_BYTES) request.destroy();
  });
}

/**
 * Sends a body that is made on the way, at the client's pace. When it cannot be finished the connection is cut, so that nobody
 * takes a part for the whole; a client that reads nothing for a minute is let go.
 */
async function sendStream(
  request: IncomingMessage,
  response: ServerResponse,
  { status, headers }: Answer,
  { chunks, close }: AnswerStream,
): Promise<void> {
  try {
    response.setTimeout(STALLED_MS, () => response.destroy());
    response.writeHead(status, headers);
    if (request.method === 'HEAD') response.end();
    else await pipeline(Readable.from(chunks), response);
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'ERR_STREAM_PREMATURE_CLOSE') throw error;
  } finally {
    await close();
  }
}

/** Puts the headers of every response in place; the request's own id is kept when it is a plain one. */
export function stampResponse(request: IncomingMessage, response: ServerResponse): void {
  const given = request.headers['x-request-id'];
  const requestId = typeof given === 'string' && /^[A-Za-z0-9._-]{1,128}$/.test(given) ? given : randomUUID();
  response.setHeader('x-request-id', requestId);
  response.setHeader('svc-api-version', API_VERSION);
}

/** The path of a request, without its query. */
export function pathOf(request: IncomingMessage): string {
  return (request.url ?? '').split('?', 1)[0] ?? '';
}

/** The bearer credential of a request; null when there is none of that form (RFC 6750 §2.1). */
function bearerOf(request: IncomingMessage): string | null {
  return /^Bearer +([\x21-\x7e]{1,4096}) *$/i.exec(request.headers.authorization ?? '')?.[1] ?? null;
}

/** The page a call names in its query, before the query is checked; null when it names none. */
function resourceOf(request: IncomingMessage): string | null {
  const [, query] = (request.url ?? '').split('?', 2);
  return query === undefined ? null : new URLSearchParams(query).get('resource');
}

/** Query parameters by name. Throws invalid_parameter when one is repeated. */
function readQuery(url: string): ReadonlyMap<string, string> {
  const query = new Map<string, string>();
  const start = url.indexOf('?');
  if (start < 0) return query;
  for (const [name, value] of new URLSearchParams(url.slice(start + 1))) {
    if (query.has(name)) throw new ServiceError('invalid_parameter', `${name} is given twice`, { parameter: name });
    query.set(name, value);
  }
  return query;
}
