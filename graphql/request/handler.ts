import type { IncomingMessage, ServerResponse } from 'node:http';
import { authenticate } from '../../modules/identity/use/authenticate.ts';
import type { Owner } from '../../modules/identity/use/owners/authenticate.ts';
import { ownerKey } from '../../modules/identity/use/owners/authenticate.ts';
import { readBearer } from '../../modules/kernel/access/bearer.ts';
import { isServiceError, ServiceError } from '../../modules/kernel/errors.ts';
import { COSTS, queryPoints } from '../../modules/kernel/rate.ts';
import { noteRefusal } from '../../modules/settlement/use/answer/note.ts';
import { goneOf } from '../../platform/pacing/disconnected.ts';
import type { Turns } from '../../platform/pacing/fairQueue.ts';
import { openTurns } from '../../platform/pacing/fairQueue.ts';
import { accountName } from '../../platform/pacing/heavy.ts';
import { RateExceeded } from '../../platform/pacing/rates.ts';
import { CHANGES_OF_ONE, WAIT_LIMIT_MS, WAITING_LIMIT } from '../limits/limits.ts';
import { openRows } from '../rows/stream.ts';
import type { Answer } from './answer.ts';
import { answerOf, refusalAnswer } from './answer.ts';
import { isChange, readBody } from './body.ts';
import type { GraphqlDeps, Visitor } from './context.ts';
import { questionsOf, siteOf } from './context.ts';
import type { Engine } from './engine.ts';
import { openPage } from './graphiql.ts';

/** The page for people; `key` fills in its credential, for installations that hold nothing but sample data. */
export interface PageOptions {
  readonly key: string | null;
}

/** Who answers what. */
export interface Engines {
  /** Answers questions, elsewhere than on the event loop of this handler where quotes share it. */
  readonly ask: Engine;
  /** Makes the changes of owners. */
  readonly change: Engine;
}

/**
 * The GraphQL endpoint as a request handler: POST with a bearer, one JSON operation a request. The caller is let in before anything of
 * the body is read; scopes and plan are asked for field by field. Questions are heavy work and wait for their turn; changes wait for changes
 * of the same owner alone, so that a key can be revoked whatever is asked. What this loop does for a question is to let its caller in, take
 * its bytes and send those of the answer. What a question was measured at counts afterwards; its caller may then owe points, and is refused
 * until it has them again: that refusal is thrown, for the caller to delay like every refusal by rate. An `owner` that comes with a request
 * was let in before, by the console's session; its bearer is not looked at then. GET gives the rows of a link that it carries, or the page for people
 * where there is one, else 405.
 */
export function createGraphqlHandler(
  deps: GraphqlDeps,
  engines: Engines,
  page: PageOptions | null,
): (request: IncomingMessage, response: ServerResponse, owner?: Owner) => Promise<void> {
  const changing = openTurns({
    atOnce: Number.POSITIVE_INFINITY,
    mostOfOne: CHANGES_OF_ONE,
    mostWaiting: WAITING_LIMIT,
    waitMs: WAIT_LIMIT_MS,
  });
  const sendPage = page && openPage(page.key);
  const sendRows = openRows(deps, engines.ask);
  return async (request, response, owner) => {
    const letCallerIn = (): ReturnType<typeof letIn> =>
      owner ? Promise.resolve({ key: null, owner, account: null }) : letIn(deps, bearerOf(request));
    try {
      const rows = owner ? null : askedRows(request);
      if (rows) await sendRows(request, response, rows.token, rows.after);
      else if (sendPage && !owner && wantsPage(request)) await sendPage(request, response);
      else if (request.method !== 'POST') refuseMethod(response, sendPage !== null);
      else sendAnswer(response, await answer({ deps, engines, changing, letCallerIn }, request, response));
    } catch (error) {
      if (error instanceof RateExceeded) throw error;
      sendError(deps, response, error);
    }
  };
}

/** What a call is answered with. */
interface Serving {
  readonly deps: GraphqlDeps;
  readonly engines: Engines;
  readonly changing: Turns;
  readonly letCallerIn: () => ReturnType<typeof letIn>;
}

async function answer(
  { deps, engines: { ask, change }, changing, letCallerIn }: Serving,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<Answer> {
  const caller = await letCallerIn();
  const { owner, account } = caller;
  // Whatever token he shows.
  if (owner) deps.rates?.count([['key', ownerKey(owner)]], COSTS.heavy);
  if (account) deps.rates?.count([['account', account.accountId]], COSTS.heavy);
  const body = await readBody(request);
  const requestId = String(response.getHeader('x-request-id') ?? '');
  const call = { ...caller, requestId, accept: acceptOf(request), body };
  const isOwnersChange = (owner !== null || account?.isOwner === true) && isChange(body);
  const who = caller.key?.keyId ?? (owner ? ownerKey(owner) : account ? accountName(account.accountId) : '');
  if (isOwnersChange) return await inTurn(changing.enter([who]), () => change(call));
  const questions = questionsOf(caller);
  deps.rates?.count([questions], 0); // who is in debt does not wait for a turn
  const turn = deps.heavy.enter({ kind: 'questions', who, of: siteOf(caller) }, goneOf(request));
  return await inTurn(turn, async () => {
    deps.rates?.count([questions], COSTS.heavy);
    const answer = await ask(call);
    deps.rates?.queue(questions, queryPoints(answer.cost ?? 0) - COSTS.heavy, Number.POSITIVE_INFINITY);
    return answer;
  });
}

async function inTurn(turn: Promise<() => void>, work: () => Promise<Answer>): Promise<Answer> {
  const leave = await turn;
  try {
    return await work();
  } finally {
    leave();
  }
}

/** Who asks. Throws as `authenticate`. */
async function letIn(deps: GraphqlDeps, bearer: string | null): Promise<Pick<Visitor, 'key' | 'owner' | 'account'>> {
  const who = await authenticate(deps, { bearer }, { key: true, account: true, owner: deps });
  return {
    key: who.kind === 'key' ? who.key : null,
    owner: who.kind === 'owner' ? who.owner : null,
    account: who.kind === 'account' ? who.account : null,
  };
}

/** Tokens of identity providers are long. */
const MOST_BEARER_CHARS = 8_192;

/**
 * The bearer credential of a request; null when there is none (`readBearer`), or when it follows a link to rows: nobody looks at a bearer then, so
 * that one made up for each call would count for nobody.
 */
export function bearerOf(request: IncomingMessage): string | null {
  return askedRows(request) ? null : readBearer(request.headers.authorization, MOST_BEARER_CHARS);
}

/** Streams are not given: an answer is one JSON document. */
function acceptOf(request: IncomingMessage): string {
  const asked = request.headers.accept ?? '';
  return asked.includes('application/graphql-response+json') ? 'application/graphql-response+json' : 'application/json';
}

/** The link that a GET follows; null: it is none. */
function askedRows({ method, url }: IncomingMessage): { readonly token: string; readonly after: string | null } | null {
  if (method !== 'GET') return null;
  const search = new URLSearchParams((url ?? '').split('?', 2)[1] ?? '');
  const token = search.get('rows');
  return token === null ? null : { token, after: search.get('after') };
}

function wantsPage(request: IncomingMessage): boolean {
  return (request.method === 'GET' || request.method === 'HEAD') && (request.headers.accept ?? '').includes('text/html');
}

function refuseMethod(response: ServerResponse, hasPage: boolean): void {
  const message = 'operations are sent with POST';
  const errors = [{ message, extensions: { code: 'BAD_USER_INPUT', reason: 'method_not_allowed' } }];
  sendAnswer(response, answerOf(405, JSON.stringify({ errors }), { allow: hasPage ? 'GET, HEAD, POST' : 'POST' }));
}

/** Answers what stopped a request before its operation ran. */
export function sendError(deps: Pick<GraphqlDeps, 'log'>, response: ServerResponse, error: unknown): void {
  const known = isServiceError(error) ? error : new ServiceError('internal', 'something went wrong on our side');
  noteRefusal(String(response.getHeader('x-request-id') ?? ''), known.code);
  if (known.kind === 'defect') {
    deps.log.error({ requestId: response.getHeader('x-request-id'), err: error }, 'a request met a defect');
  }
  if (response.headersSent || response.destroyed) {
    response.destroy();
    return;
  }
  sendAnswer(response, refusalAnswer(known));
}

function sendAnswer(response: ServerResponse, { status, headers, body }: Answer): void {
  const { 'content-type': type = 'application/json; charset=utf-8', ...others } = headers;
  for (const [name, value] of Object.entries(others)) response.setHeader(name, value);
  send(response, status, type, body);
}

function send(response: ServerResponse, status: number, type: string, body: Uint8Array): void {
  response.writeHead(status, {
    'content-type': type,
    'content-length': body.byteLength,
    'cache-control': 'private, no-store',
  });
  response.end(response.req.method === 'HEAD' ? undefined : body);
}
