import { call } from './http.ts';
import { Problem, problemOf } from './problem.ts';
import { routeNow, setQuery, useRoute } from './router.ts';
import { createStore } from './store.ts';

/** A site of the person who signed in. */
export interface Site {
  readonly tenantId: string;
  readonly host: string | null;
  readonly status: string;
}

/** Ways to sign in that this installation has. */
export interface Ways {
  readonly token: boolean;
  readonly oidc: { readonly name: string } | null;
  readonly demo: boolean;
}

/** Nobody is signed in. */
export interface SignedOut {
  readonly signedIn: false;
  readonly ways: Ways;
}

/** Somebody is signed in: who, and what of. */
export interface SignedIn {
  readonly signedIn: true;
  readonly user: { readonly id: string; readonly via: string };
  readonly sites: readonly Site[];
  readonly csrf: string;
  readonly expiresAt: string;
  readonly canCreateSite: boolean;
}

/** What is known of the session; `ended`: it was, and a call was refused since. */
export type SessionState =
  | { readonly state: 'loading' }
  | { readonly state: 'error'; readonly problem: Problem }
  | { readonly state: 'out'; readonly session: SignedOut; readonly ended: boolean }
  | { readonly state: 'in'; readonly session: SignedIn };

const current = createStore<SessionState>({ state: 'loading' });
/** The session that ended while its page was open: what was typed there waits for the same person to come back. */
let left: SignedIn | null = null;
const forgetters = new Set<() => void>();

/** What must be forgotten when somebody signs out. */
export function onSignOut(forget: () => void): void {
  forgetters.add(forget);
}

/** The session, in a component. */
export function useSessionState(): SessionState {
  return current.use();
}

/** Asks who is signed in. After a change of sites too: a new one is in the list then. */
export async function loadSession({ ended = false }: { readonly ended?: boolean } = {}): Promise<void> {
  try {
    take(await call('GET', '/session'), ended);
  } catch (error) {
    current.set({ state: 'error', problem: problemOf(error) });
  }
}

/** Signs in with an owner's token; it is sent once and kept nowhere in the page. Throws `Problem`. */
export async function signIn(token: string): Promise<void> {
  take(await call('POST', '/session', { body: { token } }), false);
}

/** Signs out here, or wherever this person is signed in. */
export async function signOut({ everywhere = false }: { readonly everywhere?: boolean } = {}): Promise<void> {
  await call('DELETE', everywhere ? '/sessions' : '/session', { csrf: csrfNow() });
  left = null;
  for (const forget of forgetters) forget();
  await loadSession();
}

/** The session ended elsewhere: what was shown goes, and the way in comes back. What was typed is kept for the same person. */
export function sessionEnded(): void {
  left = lookedAt();
  for (const forget of forgetters) forget();
  void loadSession({ ended: true });
}

/** The token that goes with every call; null: nobody is signed in. */
export function csrfNow(): string | null {
  const now = current.get();
  return now.state === 'in' ? now.session.csrf : null;
}

/** The token, in a component. */
export function useCsrf(): string | null {
  const now = current.use();
  return now.state === 'in' ? now.session.csrf : null;
}

/** Whose page it is: of who is signed in, or whose session just ended. */
function lookedAt(): SignedIn | null {
  const now = current.get();
  return now.state === 'in' ? now.session : left;
}

/** The site that is looked at: the one the address names if it is one of theirs, else the first. */
export function tenantNow(): string | null {
  const session = lookedAt();
  return session === null ? null : tenantOf(session, routeNow().query['site']);
}

/** Session of a screen, which is drawn for people who are signed in alone. */
export function useSession(): {
  readonly user: SignedIn['user'];
  readonly sites: readonly Site[];
  readonly tenantId: string | null;
  readonly site: Site | null;
  readonly setTenant: (tenantId: string) => void;
  readonly signOut: typeof signOut;
  readonly csrf: string;
  readonly canCreateSite: boolean;
} {
  current.use();
  const { query } = useRoute();
  const session = lookedAt();
  if (session === null) throw new Problem('signed_out', 'nobody is signed in');
  const { user, sites, csrf, canCreateSite } = session;
  const tenantId = tenantOf(session, query['site']);
  const site = sites.find((one) => one.tenantId === tenantId) ?? null;
  return { user, sites, tenantId, site, setTenant, signOut, csrf, canCreateSite };
}

function setTenant(tenantId: string): void {
  setQuery({ site: tenantId });
}

function tenantOf({ sites }: SignedIn, asked: string | undefined): string | null {
  return (sites.find(({ tenantId }) => tenantId === asked) ?? sites[0])?.tenantId ?? null;
}

function take({ status, body, requestId }: Awaited<ReturnType<typeof call>>, ended: boolean): void {
  if (status === 200 && isSession(body)) {
    if (body.signedIn) left = null;
    current.set(body.signedIn ? { state: 'in', session: body } : { state: 'out', session: body, ended });
    return;
  }
  throw refusalOf(status, body, requestId);
}

function isSession(body: unknown): body is SignedIn | SignedOut {
  return typeof body === 'object' && body !== null && 'signedIn' in body;
}

/** A refusal in the usual shape, `{"error": "code: what is wrong"}`. */
export function refusalOf(status: number, body: unknown, requestId: string | null): Problem {
  const text = typeof body === 'object' && body !== null && 'error' in body && typeof body.error === 'string' ? body.error : '';
  const [, code, message] = /^([a-z_]+): (.+)$/s.exec(text) ?? [];
  if (code !== undefined && message !== undefined) return new Problem(code, message, { requestId });
  return new Problem(`status_${status}`, text || `The service answered with status ${status}.`, { requestId });
}
