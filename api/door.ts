import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { authenticateAccount } from '../services/accounts/authenticate.ts';
import { noteRefusal } from '../services/answers/note.ts';
import { authenticate, authenticateHeld } from '../services/publisher.ts';
import { addressOf } from './address.ts';
import { readBody } from './body.ts';
import { bearerOf, createKeyReader } from './credential.ts';
import { asServiceError, errorAnswer } from './errors.ts';
import type { Handler } from './front.ts';
import { knownParameters, readQuery, searchOf } from './query.ts';
import type { AccountRoute, Answer, AnswerStream, Call, ErrorShape, HandlerDeps, KeyRoute, Route } from './route.ts';

/** The version of this API, on every response. */
export const API_VERSION = '1.0.0';
/** After an answer, this much more of an unread body is taken in before the connection is cut. */
const MAX_DISCARDED_BYTES = 1_048_576;
const STALLED_MS = 60_000;

/**
 * The handler of a route. Order: credential, plan, scope → body → the route's own checks; nothing
 * of the body is read before the caller is let in.
 */
export function openDoor(route: Route, deps: HandlerDeps): Handler {
  const answerAll = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    try {
      const answered = await answer(route, deps, request);
      if (answered.stream) await sendStream(request, response, answered, answered.stream);
      else send(request, response, answered);
    } catch (error) {
      sendError(deps, request, response, error, route.errorShape ?? 'plain');
    }
  };
  return isKeyRoute(route) && route.recall ? recallFirst(route, route.recall, deps, answerAll) : answerAll;
}

/** Answers what memory alone can answer without waiting for anything; whatever is not that simple goes the whole way. */
function recallFirst(route: KeyRoute, recall: NonNullable<KeyRoute['recall']>, deps: HandlerDeps, answerAll: Handler): Handler {
  const keyHashOf = createKeyReader(deps);
  return (request, response) => {
    try {
      const keyHash = keyHashOf(request);
      const caller = keyHash && authenticateHeld(deps, keyHash, route.access.scope);
      const answered = caller && recall({ deps, caller, search: searchOf(request) });
      if (!answered) return answerAll(request, response);
      send(request, response, answered);
    } catch (error) {
      sendError(deps, request, response, error, route.errorShape ?? 'plain');
    }
  };
}

async function answer(route: Route, deps: HandlerDeps, request: IncomingMessage): Promise<Answer> {
  if (route.access === 'public') return route.handle(await callOf(route, deps, request));
  if (isAccountRoute(route)) {
    const credential = { bearer: bearerOf(request), signInWithX: headerOf(request, 'sign-in-with-x'), from: addressOf(request) };
    const account = await authenticateAccount(deps, credential);
    return route.handle({ ...(await callOf(route, deps, request)), account });
  }
  const caller = await authenticate(deps, bearerOf(request), route.access, resourceOf(request));
  return route.handle({ ...(await callOf(route, deps, request)), caller });
}

async function callOf(route: Route, deps: HandlerDeps, request: IncomingMessage): Promise<Call> {
  return {
    deps,
    search: searchOf(request),
    query: readQuery(searchOf(request), knownParameters(route)),
    params: (request as { params?: Readonly<Record<string, string>> }).params ?? {},
    address: addressOf(request),
    body: await readBody(request, route.bodyLimitBytes, route.bodyType),
    header: (name) => headerOf(request, name),
  };
}

function isAccountRoute(route: Route): route is AccountRoute {
  return route.access === 'account';
}

function isKeyRoute(route: Route): route is KeyRoute {
  return typeof route.access === 'object';
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
  const requestId = requestIdOf(request);
  noteRefusal(requestId, known.code);
  const entry = { requestId, code: known.code, path: pathOf(request) };
  if (known.kind === 'defect') deps.log.error({ ...entry, err: error }, 'a request met a defect');
  else if (known.kind === 'unavailable') deps.log.warn({ ...entry, sentence: known.message }, 'a request could not be served');
  if (response.headersSent) {
    response.destroy();
    return;
  }
  send(request, response, errorAnswer(known, shape, wantsProblem(request)), requestId);
}

/** True for a client that asks for problem details (RFC 9457). */
export function wantsProblem({ headers }: IncomingMessage): boolean {
  return /\bapplication\/problem\+json\b/i.test(headers.accept ?? '');
}

/** Sends an answer; what is left of an unread body is taken in up to a limit, so that the client gets to read the answer. */
export function send(request: IncomingMessage, response: ServerResponse, answer: Answer, requestId = requestIdOf(request)): void {
  const { status, headers = {}, body } = answer;
  const isText = typeof body === 'string' || body instanceof Uint8Array;
  const text = body === undefined ? null : isText ? body : JSON.stringify(body);
  const lines = headerLines(requestId, headers);
  if (text !== null) {
    if (headers['content-type'] === undefined) lines.push('content-type', 'application/json; charset=utf-8');
    lines.push('content-length', String(Buffer.byteLength(text)));
  }
  response.writeHead(status, lines);
  response.end(request.method === 'HEAD' || text === null ? undefined : text);
  if (!request.complete && hasBody(request)) discardBody(request);
}

/** The headers of every response, then its own, in the flat form that is written fastest. */
function headerLines(requestId: string, headers: Readonly<Record<string, string>>): string[] {
  const lines = ['x-request-id', requestId, 'svc-api-version', API_VERSION];
  for (const name in headers) lines.push(name, headers[name] as string);
  return lines;
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;
}

function discardBody(request: IncomingMessage): void {
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
  { status, headers = {} }: Answer,
  { chunks, close }: AnswerStream,
): Promise<void> {
  try {
    response.setTimeout(STALLED_MS, () => response.destroy());
    response.writeHead(status, headerLines(requestIdOf(request), headers));
    if (request.method === 'HEAD') {
      // Before the end is told, so that whoever asked may ask for the body at once.
      await close();
      response.end();
    } else await pipeline(Readable.from(chunks), response);
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'ERR_STREAM_PREMATURE_CLOSE') throw error;
  } finally {
    await close();
  }
}

/** The request's own id when it is a plain one, else a new one. */
export function requestIdOf(request: IncomingMessage): string {
  const given = request.headers['x-request-id'];
  return typeof given === 'string' && /^[A-Za-z0-9._-]{1,128}$/.test(given) ? given : randomUUID();
}

/** The path of a request, without its query. */
export function pathOf(request: IncomingMessage): string {
  return (request.url ?? '').split('?', 1)[0] ?? '';
}

/** The page a call names in its query, before the query is checked; null when it names none. */
function resourceOf(request: IncomingMessage): string | null {
  return new URLSearchParams(searchOf(request)).get('resource');
}
