import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { AccountCaller } from '../modules/identity/use/accounts/authenticate.ts';
import { declareAtService } from '../modules/identity/use/accounts/declare.ts';
import type { Shown, Taken, Who } from '../modules/identity/use/authenticate.ts';
import { authenticate } from '../modules/identity/use/authenticate.ts';
import type { Caller, KeyAccess } from '../modules/identity/use/keys/authenticate.ts';
import { authenticateHeld, authenticateProven } from '../modules/identity/use/keys/authenticate.ts';
import { publisherHash } from '../modules/identity/use/keys/keys.ts';
import type { KeyState } from '../modules/kernel/access/key.ts';
import { ServiceError } from '../modules/kernel/errors.ts';
import { bodyPoints, COSTS } from '../modules/kernel/rate.ts';
import { noteRefusal } from '../modules/settlement/use/answer/note.ts';
import { goneOf } from '../platform/pacing/disconnected.ts';
import { beginInTurn } from '../platform/pacing/eventLoop.ts';
import { siteName } from '../platform/pacing/heavy.ts';
import type { Holder, HolderOf } from '../platform/pacing/rates.ts';
import { calledFrom, holderOfKey, RateExceeded } from '../platform/pacing/rates.ts';
import { createAddressReader } from './address.ts';
import { readBody } from './body.ts';
import type { KeyReader } from './credential.ts';
import { bearerOf, createKeyReader } from './credential.ts';
import { asServiceError, errorAnswer } from './errors.ts';
import { tellInTime } from './held.ts';
import { readQuery, searchOf } from './query.ts';
import { holderOfBearer } from './rated.ts';
import type {
  AccountRoute,
  Answer,
  AnswerStream,
  AnybodyRoute,
  Call,
  ErrorShape,
  HandlerDeps,
  KeyCall,
  KeyRoute,
  OptionalAccountRoute,
  Route,
  Somebody,
} from './route.ts';
import { RESOURCE_METADATA_PATH } from './route.ts';
import type { Handler } from './router.ts';

/** The version of this API, on every response. */
export const API_VERSION = '1.0.0';
/** After an answer, this much more of an unread body is taken in before the connection is cut. */
const MAX_DISCARDED_BYTES = 1_048_576;
const STALLED_MS = 60_000;

/**
 * The handler of a route. Order: rate → credential, plan, scope → body → the route's own checks; nothing
 * of the body is read before the caller is let in, or is above a rate that does not hold for what its call carries (`letInAboveRate`):
 * a payment that was taken before is answered; one that is refused for its caller's rate has no row, and nothing is taken.
 */
export function createHandler(route: Route, deps: HandlerDeps): Handler {
  const keyHashOf = createKeyReader(deps);
  const answerAll = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    try {
      const answered = await answer(route, deps, request, keyHashOf);
      await sendAnswer(request, response, answered);
    } catch (error) {
      tellInTime(response, error, () => sendError(deps, { request, response }, error, route.errorShape ?? 'plain'));
    }
  };
  const inTurn: Handler = (request, response) =>
    beginInTurn(() => (request.destroyed ? undefined : answerAll(request, response)));
  return isKeyRoute(route) && route.cached ? cacheFirst({ route, deps, keyHashOf }, route.cached, inTurn) : inTurn;
}

/** What a route of publisher keys is answered with. */
interface KeyHandler {
  readonly route: KeyRoute;
  readonly deps: HandlerDeps;
  readonly keyHashOf: KeyReader;
}

/** Answers what memory alone can answer without waiting for anything; whatever is not that simple goes the whole way. */
function cacheFirst(
  { route, deps, keyHashOf }: KeyHandler,
  cached: NonNullable<KeyRoute['cached']>,
  answerAll: Handler,
): Handler {
  return (request, response) => {
    try {
      const keyHash = keyHashOf(request);
      const caller = keyHash && authenticateHeld(deps, keyHash, route.access.scope);
      const answered = caller && cached({ deps, caller, search: searchOf(request) });
      if (!answered) return answerAll(request, response);
      deps.rates?.count(holderOfKey(caller.key), costOf(route, request));
      send(request, response, answered);
    } catch (error) {
      tellInTime(response, error, () => sendError(deps, { request, response }, error, route.errorShape ?? 'plain'));
    }
  };
}

async function answer(route: Route, deps: HandlerDeps, request: IncomingMessage, keyHashOf: KeyReader): Promise<Answer> {
  if (route.access === 'public') {
    if (!route.isForProbes || isNamedByProxy(deps, request)) countAddress(deps, request, costOf(route, request));
    return route.handle(await callOf(route, deps, request));
  }
  if (route.access === 'account if any') {
    const account = showsAccount(request) ? await letAccountIn(route, deps, request) : null;
    if (account === null) countAddress(deps, request, costOf(route, request));
    return route.handle({ ...(await callOf(route, deps, request)), account });
  }
  if (route.access === 'anybody') {
    const { who, holder } = await letAnybodyIn(route, deps, request).catch((error: unknown) => {
      throw withResource(error, `${deps.baseUrl}${RESOURCE_METADATA_PATH}${route.path}`);
    });
    const count = (cost: number): void => deps.rates?.count(holder, cost);
    const owe = (cost: number): void => {
      for (const bucket of holder) deps.rates?.queue(bucket, cost, Number.POSITIVE_INFINITY);
    };
    return route.handle({ ...(await callOf(route, deps, request)), who, count, owe });
  }
  if (isAccountRoute(route)) {
    const account = await letAccountIn(route, deps, request);
    return route.handle({ ...(await callOf(route, deps, request)), account });
  }
  const call = await letKeyIn({ route, deps, keyHashOf }, request);
  const leave = await beginReport(route, call);
  try {
    return await route.handle(call);
  } finally {
    leave?.();
  }
}

/** Waits for the turn of what is a report; of anything else there is none to end. Throws throttled (429). */
export async function beginReport(route: KeyRoute, { deps, caller, gone }: KeyCall): Promise<(() => void) | undefined> {
  if (!route.isReport) return undefined;
  const { keyId, tenantId } = caller.key;
  return await deps.heavy.enter({ kind: 'reports', who: keyId, of: siteName(tenantId) }, gone());
}

function countAddress(deps: HandlerDeps, request: IncomingMessage, cost: number): void {
  deps.rates?.count([['address', deps.addressOf(request)]], cost);
}

const peerOf = createAddressReader([]);

/** True of a call that came through a proxy of ours, which says who made it. */
function isNamedByProxy({ addressOf }: HandlerDeps, request: IncomingMessage): boolean {
  return addressOf(request) !== peerOf(request);
}

/** What answers without any route (no such path, no such method, a preflight), counted for its address like everything else. */
export function answerUnrouted(deps: HandlerDeps, shapeOf: (request: IncomingMessage) => ErrorShape, answerIt: Handler): Handler {
  return (request, response) => {
    try {
      countAddress(deps, request, COSTS.light);
      return answerIt(request, response);
    } catch (error) {
      tellInTime(response, error, () => sendError(deps, { request, response }, error, shapeOf(request)));
    }
  };
}

/** True of a call that carries what may be a buyer's credential. */
function showsAccount(request: IncomingMessage): boolean {
  return bearerOf(request) !== null || headerOf(request, 'sign-in-with-x') !== null;
}

/** The caller: a publisher key, read in this call; a buyer account; or an address alone. Each has its own rate. */
async function letAnybodyIn(
  route: AnybodyRoute,
  deps: HandlerDeps,
  request: IncomingMessage,
): Promise<{ readonly who: Somebody; readonly holder: Holder }> {
  if (!showsAccount(request)) {
    countAddress(deps, request, costOf(route, request));
    return { who: { kind: 'anyone' }, holder: [['address', deps.addressOf(request)]] };
  }
  const who = await letIn({ route, deps, request }, { account: true, publisher: { scope: 'tenant.read', freshness: 'now' } });
  return { who, holder: calledFrom(holderOf(who), deps.addressOf(request)) };
}

function holderOf(who: Who<{ account: true; publisher: KeyAccess }>): Holder {
  return who.kind === 'publisher' ? holderOfKey(who.caller.key) : [['account', who.account.accountId]];
}

/** A refused credential, with the address at which a client learns who grants one (RFC 9728 §5.1). */
function withResource(error: unknown, resourceMetadata: string): unknown {
  if (!(error instanceof ServiceError) || error.kind !== 'unauthenticated') return error;
  return new ServiceError(error.code, error.message, { ...error.details, resourceMetadata });
}

/** The call of a key. One above its rate is refused, unless its route lets it in for what it carries: then it is read whole first. */
async function letKeyIn({ route, deps, keyHashOf }: KeyHandler, request: IncomingMessage): Promise<KeyCall> {
  const enter = async (): Promise<Caller> => {
    const shown = { bearer: bearerOf(request), resource: resourceOf(request) };
    return (await authenticate(deps, shown, { publisher: route.access })).caller;
  };
  let isCounted = false;
  const count = (key: KeyState): void => {
    deps.rates?.count(holderOfKey(key), costOf(route, request));
    isCounted = true;
  };
  try {
    const proven = await letProvenIn({ route, deps, keyHashOf }, request, count);
    const holderOfCaller: HolderOf<Caller> = (known, name) =>
      known ? holderOfKey(known.key) : holderOfBearer(deps, bearerOf(request) ?? '', name);
    const caller = proven ?? (await (isCounted ? enter() : counted({ route, deps, request }, enter, holderOfCaller)));
    return { ...(await callOf(route, deps, request)), caller };
  } catch (error) {
    if (!route.letInAboveRate || !(error instanceof RateExceeded) || error.isUnproven) throw error;
    const read = await callOf(route, deps, request).catch(() => {
      throw error;
    });
    const call = { ...read, caller: await enter() };
    if (!(await route.letInAboveRate(call))) throw error;
    return call;
  }
}

/** Who was let in before, when Postgres says in this call that nothing was taken away since; the call is counted before it is asked. */
async function letProvenIn(
  { route, deps, keyHashOf }: KeyHandler,
  request: IncomingMessage,
  count: (key: KeyState) => void,
): Promise<Caller | null> {
  const { freshness, scope } = route.access;
  const keyHash = freshness === 'epoch' ? keyHashOf(request) : null;
  return keyHash && authenticateProven(deps, keyHash, scope, count);
}

/** An account, by its bearer or by a challenge that its wallet signed. */
async function letAccountIn(
  route: AccountRoute | OptionalAccountRoute,
  deps: HandlerDeps,
  request: IncomingMessage,
): Promise<AccountCaller> {
  return (await letIn({ route, deps, request }, { account: true })).account;
}

/**
 * Lets an account in, or the key of a site where the route takes any; a signed challenge counts for its address, as a sign-in does. What is no key
 * and refused hears what a wallet may sign instead.
 */
async function letIn<T extends Pick<Taken, 'publisher'> & { readonly account: true }>(
  { route, deps, request }: { readonly route: Route; readonly deps: HandlerDeps; readonly request: IncomingMessage },
  taken: T,
): Promise<Who<T>> {
  const bearer = bearerOf(request);
  const from = deps.addressOf(request);
  const signInWithX = headerOf(request, 'sign-in-with-x');
  if (bearer === null && signInWithX !== null) deps.rates?.count([['address', from]], COSTS.heavy);
  const shown: Shown = { bearer, wallet: { signInWithX, from } };
  const enter = (): Promise<Who<T>> => authenticate(deps, shown, taken);
  try {
    return await counted({ route, deps, request }, enter, (who, name) =>
      who ? holderOf(who as Parameters<typeof holderOf>[0]) : holderOfBearer(deps, bearer ?? '', name),
    );
  } catch (error) {
    if (!(error instanceof ServiceError) || error.kind !== 'unauthenticated') throw error;
    if (taken.publisher && bearer !== null && publisherHash(deps.pepper, bearer, deps.testKeysEnabled) !== null) throw error;
    // Fresh each time: a refusal may be an earlier one, remembered.
    throw new ServiceError(error.code, error.message, { ...error.details, signIn: declareAtService(deps) });
  }
}

/** Lets the bearer of a request in and counts the call; without a bearer there is nothing to look up, and it counts for its address. */
function counted<T>(
  { route, deps, request }: { readonly route: Route; readonly deps: HandlerDeps; readonly request: IncomingMessage },
  letIn: () => Promise<T>,
  holderOf: HolderOf<T>,
): Promise<T> {
  const token = bearerOf(request);
  if (!deps.rates) return letIn();
  if (token === null) {
    countAddress(deps, request, COSTS.light + bodyCostOf(route, request));
    return letIn();
  }
  return deps.rates.present({ token, address: deps.addressOf(request), cost: costOf(route, request) }, letIn, holderOf);
}

/** What a call counts before anything of it is done. */
function costOf(route: Route, request: IncomingMessage): number {
  return COSTS[route.cost ?? 'light'] + bodyCostOf(route, request);
}

/**
 * What a call's body counts before any of it is read: to take in and parse the longest that is allowed costs more than most calls. Those of keys count by
 * what stands in them, where that can be long.
 */
function bodyCostOf(route: Route, { headers }: IncomingMessage): number {
  if (isKeyRoute(route) || route.bodyLimitBytes === undefined) return 0;
  const isUntold = headers['content-length'] === undefined && headers['transfer-encoding'] !== undefined;
  const bytes = isUntold ? route.bodyLimitBytes : Number(headers['content-length'] ?? 0);
  return bodyPoints(Math.min(bytes, MAX_DISCARDED_BYTES));
}

async function callOf(route: Route, deps: HandlerDeps, request: IncomingMessage): Promise<Call> {
  return {
    deps,
    search: searchOf(request),
    query: readQuery(searchOf(request), route),
    params: (request as { params?: Readonly<Record<string, string>> }).params ?? {},
    address: deps.addressOf(request),
    gone: () => goneOf(request),
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
  { request, response }: { readonly request: IncomingMessage; readonly response: ServerResponse },
  error: unknown,
  shape: ErrorShape,
): void {
  const known = asServiceError(error);
  const requestId = requestIdOf(request);
  noteRefusal(requestId, known.code);
  const entry = { requestId, code: known.code, path: pathOf(request) };
  if (known.kind === 'defect') deps.log.error({ ...entry, err: error }, 'a request met a defect');
  else if (known.kind === 'unavailable') {
    const why = known.cause === undefined ? {} : { reason: String(known.cause) };
    deps.log.warn({ ...entry, sentence: known.message, ...why }, 'a request could not be served');
  }
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

/** Sends an answer, whole or as it is made. */
export async function sendAnswer(request: IncomingMessage, response: ServerResponse, answered: Answer): Promise<void> {
  if (answered.stream) await sendStream(request, response, answered, answered.stream);
  else send(request, response, answered);
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
  { chunks, cut, close }: AnswerStream,
): Promise<void> {
  try {
    response.setTimeout(STALLED_MS, () => response.destroy());
    response.writeHead(status, headerLines(requestIdOf(request), headers));
    if (request.method === 'HEAD') {
      // Before the response ends, so that the caller may request the body at once.
      await close();
      response.end();
    } else await pipeline(Readable.from(chunks), response, { signal: cut });
  } catch (error) {
    if (!cut.aborted && (error as { code?: unknown }).code !== 'ERR_STREAM_PREMATURE_CLOSE') throw error;
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
