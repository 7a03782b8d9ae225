/** Where requests lead: the address of a page as the service knows it, and whether the service has to be asked about it. */
import { mayBeForm } from './core/forms.ts';
import { Lru } from './core/lru.ts';
import { isInScope, lenientPath, pathnameOf, plainPath, resourceOf, spellingsOf } from './core/page.ts';
import type { SiteConfig } from './knowing/siteConfig.ts';
import type { SiteRequest } from './request.ts';

const MAX_RESOURCE_CHARS = 2_048;
/** What is longer is read anew each time: so much that strangers name is kept at most. */
const MAX_KEPT_CHARS = 512;
const KEPT = 5_000;

/** The address of a page. */
export interface Address {
  /** In plain form. */
  readonly path: string;
  readonly origin: string;
  readonly resource: string;
  /** Paths that a server might mean by this one, itself included. */
  readonly spellings: readonly string[];
  /** True for one that may be a form of an article. */
  readonly mayBeForm: boolean;
}

/** Where a request leads. */
export interface Route {
  /** True when the service has to be asked about it, and for an address that it could not be asked about. */
  readonly isScoped: boolean;
  /** Null when no host of the site is known, and for what no page can have, or none with a price: it is longer. */
  readonly address: Address | null;
}

/** Reads where a request leads; `config` null while the settings are unknown. Never throws. */
export type Routes = (config: SiteConfig | null, request: SiteRequest) => Route;

/** Opens it; what it read is kept for as long as the settings are the same. `origin`: the site's own word for its public address. */
export function openRoutes(origin: string | undefined): Routes {
  const kept = new WeakMap<SiteConfig, Lru<Route>>();
  const keptOf = (config: SiteConfig): Lru<Route> => {
    const known = kept.get(config) ?? new Lru<Route>(KEPT);
    kept.set(config, known);
    return known;
  };
  return (config, request) => {
    const named = origin ?? request.header('host') ?? '';
    const key = `${named} ${request.target}`;
    if (config === null || key.length > MAX_KEPT_CHARS) return routeOf(config, request.target, origin ?? originOf(config, named));
    const routes = keptOf(config);
    const known = routes.get(key);
    if (known) return known;
    const route = routeOf(config, request.target, origin ?? originOf(config, named));
    routes.set(key, route);
    return route;
  };
}

function routeOf(config: SiteConfig | null, target: string, origin: string | null): Route {
  const pathname = pathnameOf(target);
  if (pathname === null) return { isScoped: config !== null, address: null };
  const path = plainPath(pathname);
  const isScoped = config !== null && isInScope(config, path);
  // The service would take it for a page outside of the scope, which a router may not.
  if (config !== null && !isScoped && isInScope(config, lenientPath(pathname))) return { isScoped: true, address: null };
  const resource = origin === null ? null : resourceOf(origin, path);
  if (origin === null || resource === null || resource.length > MAX_RESOURCE_CHARS) return { isScoped, address: null };
  const spellings = config ? spellingsOf(config.articlePrefixes, path) : [path];
  return { isScoped, address: { path, origin, resource, spellings, mayBeForm: mayBeForm(config?.forms ?? [], path) } };
}

/** A host that a request names counts when it is the site's; before the site's hosts are known, it is only what reports name. */
function originOf(config: SiteConfig | null, named: string): string | null {
  const text = `https://${named}`;
  const host = URL.canParse(text) ? new URL(text).hostname : null;
  if (config === null) return host === null ? null : `https://${host}`;
  const [first] = config.hosts;
  const own = host !== null && config.hosts.includes(host) ? host : first;
  return own === undefined ? null : `https://${own}`;
}
