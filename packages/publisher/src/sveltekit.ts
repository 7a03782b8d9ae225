/** For SvelteKit: `export const handle = contentSettlement()` in src/hooks.server. Pages are sold that SvelteKit renders on demand. */
import { contentSettlement as forFetch } from './fetch.ts';
import type { PublisherOptions } from './options.ts';

/** What is used of SvelteKit's event, so that this package need not depend on SvelteKit. */
interface KitEvent {
  request: Request;
  /** The address of the page, also where its data alone is asked for (`/__data.json`). */
  readonly url: URL;
  readonly isDataRequest: boolean;
  /** Of who asks, as SvelteKit's adapter knows it; throws where it does not. */
  readonly getClientAddress?: () => string;
  /** On Workers, SvelteKit's adapter has `env` and `ctx` here. */
  readonly platform?: unknown;
}
/**
 * Options, or, where the environment comes with the requests, what makes them of it. `building`: that of `$app/environment`, for a site that has
 * prerendered pages, too: they are files, which nobody can be charged for.
 */
export type SvelteKitOptions =
  | (PublisherOptions<Request> & { readonly building?: boolean })
  | ((environment: unknown) => PublisherOptions<Request>);
/** A hook of SvelteKit. */
export type SvelteKitGate = <Event extends KitEvent>(input: {
  readonly event: Event;
  readonly resolve: (event: Event) => Response | Promise<Response>;
}) => Promise<Response>;

interface Worker {
  readonly env?: unknown;
  readonly ctx?: unknown;
  readonly context?: unknown;
}

/**
 * Opens the gate at the first request, since SvelteKit loads this file when it builds, too, where no key may be. Then throws TypeError for options that
 * cannot be used.
 */
export function contentSettlement(options: SvelteKitOptions = {}): SvelteKitGate {
  const isBuilding = typeof options !== 'function' && options.building === true;
  // SvelteKit chose the route by the event's address before it called us.
  const events = new WeakMap<Request, KitEvent>();
  const sell = forFetch((environment) => (typeof options === 'function' ? options(environment) : options), {
    routes: false,
    peer: (request) => events.get(request)?.getClientAddress?.(),
  });
  return async ({ event, resolve }) => {
    if (isBuilding) return resolve(event);
    const { request, url } = event;
    const { env, ctx, context } = (event.platform ?? {}) as Worker;
    // The data of a page costs what the page costs, so it is asked about by the page's address.
    const { method, headers, signal } = request;
    const seen = event.isDataRequest ? new Request(url, { method, headers, signal }) : request;
    events.set(seen, event);
    return sell((asked: Request, ..._worker: unknown[]) => {
      if (asked !== seen) event.request = seen === request ? asked : new Request(request, { headers: asked.headers });
      return resolve(event);
    })(seen, env, ctx ?? context);
  };
}
