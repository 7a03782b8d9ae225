/**
 * For Next: `export const proxy = contentSettlement()` in proxy.ts for pages, `export const GET = contentSettlement().route(handler)` for a
 * route handler. A proxy cannot see the page that Next makes after it; so for a buyer it asks its own server for it: here, too,
 * the page is made before money moves.
 */
import { waitAnswer } from './answers.ts';
import type { FetchOptions, Handler } from './fetch.ts';
import { contentSettlement as forFetch } from './fetch.ts';
import { createGate } from './gate.ts';
import { openPasses } from './knowing/passes.ts';
import type { PublisherOptions } from './options.ts';
import { lookAt } from './selling/lookAtResponse.ts';
import { follow, responseOf, seenOf } from './selling/soldResponse.ts';

/** What Next hands over beside a request. */
interface Event {
  readonly waitUntil?: (work: Promise<unknown>) => void;
}
/** Options, and where the site reaches itself: unless told, the address of the request if it is this machine's or `origin`. */
export type NextOptions = PublisherOptions<Request> & { readonly self?: string };
/** A proxy for pages; `route` wraps a route handler. */
export type NextProxy = ((request: Request, event?: Event) => Promise<Response | undefined>) & {
  readonly route: ReturnType<typeof forFetch>;
};

/** What stands for a page that is offered unseen. */
const unseen = (): Response => new Response('<!doctype html>', { headers: { 'content-type': 'text/html' } });

/** Opens the gate. Throws TypeError for options that cannot be used, at the first request. */
export function contentSettlement(options: NextOptions = {}): NextProxy {
  // Next loads this file when it builds, too, where no key may be.
  const open = () => ({ gate: createGate(options), passes: openPasses(options) });
  let opened: ReturnType<typeof open> | null = null;
  const proxy = async (request: Request, event?: Event): Promise<Response | undefined> => {
    opened ??= open();
    const { gate, passes } = opened;
    const seen = seenOf(request);
    if (gate.letsThrough(seen) || (await passes.isOwnCall(request))) return undefined;
    try {
      const ruling = await gate.rule(seen);
      if (ruling.act === 'serve' && !ruling.headers) return undefined;
      if (ruling.act === 'look') {
        // A page is offered unseen: to make it twice costs a site more than to offer a price for nothing.
        const make = ruling.look.isAside ? (whole: Request) => passes.pageFor(whole).catch(unseen) : unseen;
        const { answer, isOwn } = await lookAt(ruling.look, request, make, ruling.article);
        return isOwn ? undefined : answer;
      }
      return await follow(gate, ruling, request, passes.pageFor);
    } catch (error) {
      gate.onNoPage(error); // the site did not answer itself: nothing was settled
      return responseOf(waitAnswer(undefined));
    } finally {
      gate.background((work) => event?.waitUntil?.(work));
    }
  };
  const late: FetchOptions = () => options;
  const sell = forFetch(late);
  // Where a proxy stands in front of the handler, too, it sells, and asks for the page past this gate as past its own.
  const route = <Rest extends unknown[]>(handler: Handler<Rest>) => {
    const sold = sell(handler);
    return async (request: Request, ...rest: Rest): Promise<Response> => {
      opened ??= open();
      return (await opened.passes.isOwnCall(request)) ? handler(request, ...rest) : sold(request, ...rest);
    };
  };
  return Object.assign(proxy, { route });
}
