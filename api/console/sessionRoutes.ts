/** Signing in and out of the console. */

import { screenOf } from '../../modules/identity/use/console/providerSignIn.ts';
import type { ConsoleSession } from '../../modules/identity/use/console/sessions.ts';
import { endAllSessions, endSession, LONGEST_MS, listSites, signIn } from '../../modules/identity/use/console/sessions.ts';
import { isServiceError, ServiceError } from '../../modules/kernel/errors.ts';
import { COSTS } from '../../modules/kernel/rate.ts';
import { readJsonBody } from '../body.ts';
import { send } from '../handler.ts';
import { searchOf } from '../query.ts';
import { CONSOLE_PATH } from './assets.ts';
import type { ConsoleCall } from './call.ts';
import { letChangeIn, letSessionIn, missing } from './call.ts';
import { isLoopback, requireOwnChange, requireOwnReading } from './ownPage.ts';

/** Most bytes of a sign-in's body. */
const SIGN_IN_BYTES = 4_096;

/** GET session: who is signed in, or how to; 200 either way. */
export async function answerSession(call: ConsoleCall): Promise<void> {
  requireOwnReading(call.request);
  const session = await livingSession(call);
  if (session === null && call.cookie.read(call.request) !== null) call.response.setHeader('set-cookie', call.cookie.clear);
  await tell(call, session);
}

/** POST session: signs in with an owner's token, which stays nowhere; the answer is that of GET. */
export async function answerSignIn(call: ConsoleCall): Promise<void> {
  const { deps, request, address } = call;
  requireOwnChange(request, deps.baseUrl);
  deps.rates.count([['address', address]], COSTS.heavy);
  const token = tokenOf(await readJsonBody(request, SIGN_IN_BYTES));
  await begin(call, await letTokenIn(call, token));
}

/** DELETE session and sessions: signs out here or everywhere; of a session that is over already nothing is asked. */
export async function answerSignOut(call: ConsoleCall, where: 'here' | 'everywhere'): Promise<void> {
  requireOwnChange(call.request, call.deps.baseUrl);
  if ((await livingSession(call)) !== null) {
    const session = await letChangeIn(call, COSTS.light);
    await (where === 'here' ? endSession(call.deps, session.id) : endAllSessions(call.deps, session));
  }
  call.response.setHeader('set-cookie', call.cookie.clear);
  await tell(call, null);
}

/** GET demo: a session of the sandbox's demo site; `return` names the screen to open. Not for other sites' pages, nor for other names that lead to this machine. */
export async function answerDemo(call: ConsoleCall): Promise<void> {
  const { deps, request, response, address } = call;
  if (deps.demoToken === null || !isLoopback(request.headers.host)) return missing('there is no demo here');
  requireOwnReading(request);
  deps.rates.count([['address', address]], COSTS.heavy);
  await keep(call, await letTokenIn(call, deps.demoToken));
  const screen = screenOf(new URLSearchParams(searchOf(request)).get('return'));
  send(request, response, { status: 303, headers: { location: `${CONSOLE_PATH}${screen === '/' ? '' : screen}` } });
}

/** Signs in with a token; a wrong one counts for its address. */
function letTokenIn({ deps, address }: ConsoleCall, token: string): Promise<ConsoleSession> {
  const call = { token, address, cost: COSTS.heavy, isWhole: true } as const; // each call is a session of its own
  return deps.rates.present(
    call,
    () => signIn(deps, token),
    (_, name) => [['key', name]],
  );
}

/** Gives the browser the cookie of a new session; the one it had ends. */
export async function keep({ deps, request, response, cookie }: ConsoleCall, session: ConsoleSession): Promise<void> {
  const former = cookie.read(request);
  if (former !== null) await endSession(deps, former);
  response.appendHeader('set-cookie', cookie.write(session.id, LONGEST_MS / 1_000));
}

async function begin(call: ConsoleCall, session: ConsoleSession): Promise<void> {
  await keep(call, session);
  await tell(call, session);
}

/** The session of a call; null where nobody is signed in. */
async function livingSession(call: ConsoleCall): Promise<ConsoleSession | null> {
  if (call.cookie.read(call.request) === null) {
    call.deps.rates.count([['address', call.address]], COSTS.light);
    return null;
  }
  try {
    return await letSessionIn(call, COSTS.light);
  } catch (error) {
    if (isServiceError(error) && error.code === 'unknown_credential') return null;
    throw error;
  }
}

async function tell(call: ConsoleCall, session: ConsoleSession | null): Promise<void> {
  send(call.request, call.response, { status: 200, body: session ? await bodyOf(call, session) : waysOf(call) });
}

async function bodyOf({ deps }: ConsoleCall, session: ConsoleSession) {
  const { owner, csrf, expiresAtMs } = session;
  return {
    signedIn: true,
    user: { id: owner.userId, via: owner.via },
    sites: await listSites(deps, session),
    csrf,
    expiresAt: new Date(expiresAtMs).toISOString(),
    canCreateSite: deps.mayCreateSite(owner),
  };
}

function waysOf({ deps, request }: ConsoleCall) {
  const demo = deps.demoToken !== null && isLoopback(request.headers.host);
  const oidc = deps.login === null ? null : { name: new URL(deps.login.issuer).host };
  return { signedIn: false, ways: { token: true, oidc, demo } };
}

function tokenOf(body: unknown): string {
  const token = typeof body === 'object' && body !== null ? (body as { readonly token?: unknown }).token : undefined;
  if (typeof token !== 'string' || token === '') {
    throw new ServiceError('malformed_body', 'the body must be {"token": "svc_owner_…"}', { parameter: 'token' });
  }
  return token;
}
