/** For Astro: `export const onRequest = contentSettlement()` in src/middleware. Pages are sold that Astro renders on demand (`prerender = false`). */
import type { FetchOptions } from './fetch.ts';
import { contentSettlement as forFetch } from './fetch.ts';

/** What is used of Astro's context, so that this package need not depend on Astro. */
interface AstroContext {
  readonly request: Request;
  /** The address that Astro chooses the page by: it decodes a path more than once. */
  readonly url: URL;
  /** True while Astro builds a page, and for a page that was built: it is a file, which nobody can be charged for. */
  readonly isPrerendered: boolean;
  /** On Workers, Astro's adapter has `env` and `ctx` here. */
  readonly locals: object;
  /** Of who asks, as Astro's adapter knows it; throws where it does not. */
  readonly clientAddress?: string;
}
/** A middleware of Astro. */
export type AstroGate = (context: AstroContext, next: (asked?: Request) => Promise<Response>) => Promise<Response>;

interface Worker {
  readonly env?: unknown;
  readonly ctx?: unknown;
}

/**
 * Opens the gate at the first request, since Astro loads this file when it builds, too, where no key may be. Then throws TypeError for options that
 * cannot be used.
 */
export function contentSettlement(options: FetchOptions = {}): AstroGate {
  const contexts = new WeakMap<Request, AstroContext>();
  const sell = forFetch((environment) => (typeof options === 'function' ? options(environment) : options), {
    peer: (request) => {
      const address = contexts.get(request)?.clientAddress;
      // Behind a proxy Astro takes the first address of the header, which the caller may have written; the gate reads it from the right.
      const [first] = (request.headers.get('x-forwarded-for') ?? '').split(',');
      return address === first?.trim() ? undefined : address;
    },
  });
  return async (context, next) => {
    if (context.isPrerendered) return next();
    const { env, ctx } = (context.locals as { readonly runtime?: Worker }).runtime ?? {};
    const { request, url } = context;
    // `/articles/%2574rio` is the page `trio` here, so it is asked about by that address.
    const { method, headers, signal } = request;
    const seen = new URL(request.url).pathname === url.pathname ? request : new Request(url, { method, headers, signal });
    contexts.set(seen, context);
    return sell((asked: Request, ..._worker: unknown[]) => {
      if (asked === seen) return next();
      // A request for all of the page is another one than came: Astro has to be told.
      return next(seen === request ? asked : new Request(request, { headers: asked.headers }));
    })(seen, env, ctx);
  };
}
