/** Everything below /_svc/console: the page, its files, sessions, and what a session may ask for. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { COSTS } from '../../modules/kernel/rate.ts';
import { methodAnswer } from '../errors.ts';
import { pathOf, requestIdOf, send, sendError, wantsProblem } from '../handler.ts';
import { tellInTime } from '../held.ts';
import { CONSOLE_PATH } from './assets.ts';
import type { ConsoleCall, ConsoleHandlerDeps } from './call.ts';
import { letChangeIn } from './call.ts';
import { answerAuthorize, answerExchange, answerFinish } from './connectRoutes.ts';
import { cookieOf } from './cookies.ts';
import { answerDownload } from './downloads.ts';
import { sendAsset, sendPage } from './page.ts';
import { answerCallback, answerStart } from './providerRoutes.ts';
import { answerDemo, answerSession, answerSignIn, answerSignOut } from './sessionRoutes.ts';

type Answering = (call: ConsoleCall) => Promise<void>;

const ROUTES: Readonly<Record<string, Readonly<Record<string, Answering>>>> = {
  '/session': { GET: answerSession, POST: answerSignIn, DELETE: (call) => answerSignOut(call, 'here') },
  '/sessions': { DELETE: (call) => answerSignOut(call, 'everywhere') },
  '/graphql': { POST: answerGraphql },
  '/connect/authorize': { POST: answerAuthorize },
  '/connect/token': { POST: answerExchange },
  '/connect/finish': { POST: answerFinish },
  '/demo': { GET: answerDemo },
  '/download/earnings.csv': { GET: answerDownload },
  '/download/statement.pdf': { GET: answerDownload },
  '/download/statements.zip': { GET: answerDownload },
  '/oidc/start': { GET: answerStart },
  '/oidc/callback': { GET: answerCallback },
};

/** The paths of the console, as figures name them. */
export const CONSOLE_PATHS: readonly string[] = [
  CONSOLE_PATH,
  ...Object.keys(ROUTES).map((path) => `${CONSOLE_PATH}${path}`),
  ...[
    '/assets/:file',
    '/assets/:folder/:file',
    '/assets/:folder/:part/:file',
    '/:screen',
    '/:screen/:part',
    '/:screen/:part/:id',
  ].map((path) => `${CONSOLE_PATH}${path}`),
];

const CONSOLE_HEADERS = {
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-store',
};

/** True for a path of the console. */
export function isConsolePath(path: string): boolean {
  return path === CONSOLE_PATH || path.startsWith(`${CONSOLE_PATH}/`);
}

/**
 * The console as a request handler. Every call counts for its address or its session before anything is read. Only here the session's cookie means anything: no other endpoint looks at it.
 */
export function createConsole(deps: ConsoleHandlerDeps): (request: IncomingMessage, response: ServerResponse) => Promise<void> {
  const isSecure = deps.baseUrl.startsWith('https:');
  const cookie = cookieOf('svc_console', 'Strict', isSecure);
  const flow = cookieOf('svc_console_flow', 'Lax', isSecure);
  return async (request, response) => {
    response.setHeader('x-request-id', requestIdOf(request));
    for (const [name, value] of Object.entries(CONSOLE_HEADERS)) response.setHeader(name, value);
    try {
      await answer({ deps, request, response, cookie, flow, address: deps.addressOf(request) });
    } catch (error) {
      tellInTime(response, error, () => sendError(deps, { request, response }, error, 'plain'));
    }
  };
}

function answer(call: ConsoleCall): Promise<void> {
  const { request } = call;
  const path = pathOf(request).slice(CONSOLE_PATH.length);
  const method = request.method ?? '';
  const route = Object.hasOwn(ROUTES, path) ? ROUTES[path] : undefined;
  if (route) {
    const answering = Object.hasOwn(route, method) ? route[method] : undefined;
    return answering ? answering(call) : refuseMethod(call, Object.keys(route));
  }
  if (method !== 'GET' && method !== 'HEAD') return refuseMethod(call, ['GET', 'HEAD']);
  countCall(call);
  return path.startsWith('/assets/') ? sendAsset(call) : sendPage(call);
}

async function refuseMethod(call: ConsoleCall, allowed: readonly string[]): Promise<void> {
  countCall(call);
  const { request, response } = call;
  send(request, response, methodAnswer(allowed, 'plain', wantsProblem(request)));
}

/** Counts a call that shows nothing of its caller's. */
function countCall({ deps, address }: ConsoleCall): void {
  deps.rates.count([['address', address]], COSTS.light);
}

async function answerGraphql(call: ConsoleCall): Promise<void> {
  const { owner } = await letChangeIn(call, COSTS.heavy);
  await call.deps.answerGraphql(call.request, call.response, owner);
}
