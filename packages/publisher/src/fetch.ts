/** For servers of web-standard requests and answers (Hono, Workers, Deno, Bun): `fetch: contentSettlement()(app.fetch)`. */
import { createGate } from './gate.ts';
import type { PublisherOptions } from './options.ts';
import { lookAt } from './selling/lookAtResponse.ts';
import { follow, seenOf } from './selling/soldResponse.ts';

/** A handler of requests; what follows the request is the platform's (`env`, `ctx`), and is handed on. */
export type Handler<Rest extends unknown[]> = (request: Request, ...rest: Rest) => Response | Promise<Response>;
/** Options, or, where the environment comes with the requests, what makes them of it. */
export type FetchOptions = PublisherOptions<Request> | ((environment: unknown) => PublisherOptions<Request>);

/**
 * Opens the gate in front of a handler. Throws TypeError for options that cannot be used: at once, or at the first request. `routes`: false for a handler
 * that chooses the page by something else than the request it is given, and so cannot make an article in place of its missing Markdown. `peer`: the
 * address at the other end of the connection, where what is in front of the handler knows it; it may throw where it does not.
 */
export function contentSettlement(
  options: FetchOptions = {},
  { routes = true, peer }: { readonly routes?: boolean; readonly peer?: (request: Request) => string | undefined } = {},
) {
  let gate = typeof options === 'function' ? null : createGate(options);
  return <Rest extends unknown[]>(handler: Handler<Rest>) =>
    async (request: Request, ...rest: Rest): Promise<Response> => {
      gate ??= createGate(typeof options === 'function' ? options(rest[0]) : options);
      const seen = seenOf(request, () => toldBy(peer, request) ?? peerOf(request, rest));
      try {
        if (gate.letsThrough(seen)) return await handler(request, ...rest);
        const { article, ...ruling } = await gate.rule(seen);
        const elsewhere = routes && article !== undefined ? { article } : {};
        const make = (whole: Request) => handler(whole, ...rest);
        if (ruling.act === 'look') return (await lookAt(ruling.look, request, make, elsewhere.article)).answer;
        return await follow(gate, { ...ruling, ...elsewhere }, request, make);
      } finally {
        // Workers stop a program between requests: what waits leaves now.
        const lasting = rest.find((one) => typeof (one as Context | null)?.waitUntil === 'function') as Context | undefined;
        if (lasting) gate.background((work) => lasting.waitUntil(work));
      }
    };
}

interface Context {
  readonly waitUntil: (work: Promise<unknown>) => void;
}

function toldBy(peer: ((request: Request) => string | undefined) | undefined, request: Request): string | undefined {
  try {
    return peer?.(request);
  } catch {
    return undefined;
  }
}

/** What platforms hand over beside a request of whom it came from: Deno's `info`, Bun's `server`, `env` of Hono's server for Node. */
interface Platform {
  readonly remoteAddr?: { readonly hostname?: string };
  readonly requestIP?: (request: Request) => { readonly address?: string } | null;
  readonly incoming?: { readonly socket?: { readonly remoteAddress?: string } };
}

/** The address at the other end of the connection. On Workers Cloudflare says it, in a header that nobody else can send there. */
function peerOf(request: Request, rest: readonly unknown[]): string | undefined {
  if (globalThis.navigator?.userAgent === 'Cloudflare-Workers') return request.headers.get('cf-connecting-ip') ?? undefined;
  for (const one of rest as (Platform | null | undefined)[]) {
    const address = one?.remoteAddr?.hostname ?? one?.requestIP?.(request)?.address ?? one?.incoming?.socket?.remoteAddress;
    if (typeof address === 'string') return address;
  }
  return undefined;
}
