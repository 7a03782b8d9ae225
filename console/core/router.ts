import { keepFocus } from './focus.ts';
import { createStore } from './store.ts';

/** Where the console is served. */
export const BASE = '/_svc/console';

/** What the address says: the pattern it matches, what the pattern names, and the state of filters. Never a secret. */
export interface Route {
  /** The pattern of a registered screen, `/earnings/payments/:paymentId` for example; null: no screen has this address. */
  readonly screen: string | null;
  readonly path: string;
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
}

/** Parameters of an address; what is null, undefined or empty is left out. */
export type Query = Readonly<Record<string, string | number | boolean | null | undefined>>;

/** Kept from screen to screen: which site is looked at, and of what time. */
const KEPT = ['site', 'window', 'from', 'to'];

let patterns: readonly string[] = [];
const current = createStore<Route>({ screen: null, path: '/', params: {}, query: {} });

/** Begins to follow the address of the page. */
export function startRouter(screens: readonly string[]): void {
  patterns = screens;
  current.set(routeOf(location));
  addEventListener('popstate', () => current.set(routeOf(location)));
  document.addEventListener('click', followLink);
}

/** The route, in a component. */
export function useRoute(): Route {
  return current.use();
}

/** The route now, outside of components. */
export function routeNow(): Route {
  return current.get();
}

/** The address of a screen. Site and window stay as they are unless `query` says otherwise. */
export function href(path: string, query: Query = {}): string {
  const { query: now } = current.get();
  const kept = Object.fromEntries(KEPT.filter((name) => now[name] !== undefined).map((name) => [name, now[name]]));
  const said = Object.entries({ ...kept, ...query }).filter(([, value]) => value !== null && value !== undefined && value !== '');
  const text = new URLSearchParams(said.map(([name, value]) => [name, String(value)])).toString();
  return `${BASE}${path === '/' ? '' : path}${text === '' ? '' : `?${text}`}`;
}

/** Goes to a screen. `replace` leaves no entry in the history: for filters. */
export function go(path: string, query: Query = {}, { replace = false }: { readonly replace?: boolean } = {}): void {
  const before = current.get();
  const to = href(path, query);
  if (replace) history.replaceState(null, '', to);
  else history.pushState(null, '', to);
  keepFocus();
  current.set(routeOf(location));
  if (before.path !== path) scrollTo(0, 0);
}

/** Changes parameters of the present address and keeps all others. */
export function setQuery(changes: Query): void {
  const { path, query } = current.get();
  go(path, { ...query, ...changes }, { replace: true });
}

/** The address itself if a link may lead there: http, https, or a path of ours. Anything else is null, and no link. */
export function safeHref(address: string | null | undefined): string | null {
  if (!address) return null;
  // A browser drops tabs and line ends before it reads an address, so none may hide what it begins with.
  if (/[\s\p{Cc}]/u.test(address)) return null;
  if (address.startsWith('/') && !address.startsWith('//') && !address.startsWith('/\\')) return address;
  return /^https?:\/\/./i.test(address) ? address : null;
}

function routeOf({ pathname, search }: Location): Route {
  const path = pathname.slice(BASE.length).replace(/\/+$/, '') || '/';
  const query = Object.fromEntries(new URLSearchParams(search));
  for (const screen of patterns) {
    const params = match(screen, path);
    if (params !== null) return { screen, path, params, query };
  }
  return { screen: null, path, params: {}, query };
}

function match(pattern: string, path: string): Record<string, string> | null {
  const [wanted, given] = [pattern.split('/'), path.split('/')];
  if (wanted.length !== given.length) return null;
  const params: Record<string, string> = {};
  for (const [at, part] of wanted.entries()) {
    const value = given[at] ?? '';
    if (!part.startsWith(':')) {
      if (part !== value) return null;
      continue;
    }
    const text = decoded(value);
    if (text === null || text === '') return null;
    params[part.slice(1)] = text;
  }
  return params;
}

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

/** A plain click on a link to one of our screens stays in the page. */
function followLink(event: MouseEvent): void {
  const link = event.target instanceof Element ? event.target.closest('a[href]') : null;
  if (!(link instanceof HTMLAnchorElement) || event.defaultPrevented || event.button !== 0) return;
  if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey || link.target !== '' || link.hasAttribute('download'))
    return;
  if (link.origin !== location.origin || !(link.pathname === BASE || link.pathname.startsWith(`${BASE}/`))) return;
  if (/^\/_svc\/console\/(download|oidc|demo|assets)\b/.test(link.pathname)) return;
  event.preventDefault();
  const before = current.get().path;
  history.pushState(null, '', link.href);
  keepFocus();
  // A row leads to a screen of its own, though it has the same path.
  const isRow = link.closest('tbody, .bars') !== null;
  current.set(routeOf(location));
  if (isRow || before !== current.get().path) scrollTo(0, 0);
}
