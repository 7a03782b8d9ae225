/** For Express and whatever else takes `(request, response, next)` of Node: `app.use(contentSettlement())` before the pages. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { waitAnswer } from './answers.ts';
import type { Gate, Ruling } from './gate.ts';
import { createGate } from './gate.ts';
import type { PublisherOptions } from './options.ts';
import type { SiteRequest } from './request.ts';
import { PARTIAL } from './request.ts';
import { forceHeaders, holdPage, lookAtAnswer, sendAnswer } from './selling/heldPage.ts';

/** A middleware, and what a server may ask of it. `flush` sends the reports that wait: for servers that shut down in order. */
export type Middleware = ((request: IncomingMessage, response: ServerResponse, next: (error?: unknown) => void) => void) &
  Pick<Gate<IncomingMessage>, 'flush' | 'counts'>;

/** Opens the gate in front of what follows it. Throws TypeError for options that cannot be used. */
export function contentSettlement(options: PublisherOptions<IncomingMessage> = {}): Middleware {
  const gate = createGate(options);
  gate.warmUp();
  /** Those that were decided, and come once more for another page. */
  const asked = new WeakSet<IncomingMessage>();
  const follow = (ruling: Ruling, request: IncomingMessage, response: ServerResponse, next: () => void) => {
    if (ruling.act === 'answer') return sendAnswer(response, ruling.answer);
    const again = ruling.article === undefined ? undefined : elsewhere(request, response, ruling.article, asked);
    if (ruling.act === 'serve' && ruling.headers) forceHeaders(response, ruling.headers);
    if (ruling.act === 'look') lookAtAnswer(response, ruling.look, again);
    if (ruling.act === 'sell') holdPage(response, ruling.sale, { maxBytes: gate.maxPageBytes, onLarge: gate.onLarge, again });
    // A part of a page, or a page in parts, cannot be told from what is none.
    const asksWhole = ruling.act === 'look' ? ruling.look.asksWhole : ruling.act === 'sell' || ruling.headers !== null;
    if (asksWhole) for (const name of PARTIAL) delete request.headers[name];
    next();
  };
  const middleware = (request: IncomingMessage, response: ServerResponse, next: (error?: unknown) => void) => {
    const seen = seenOf(request);
    if (asked.has(request) || gate.letsThrough(seen)) return next();
    gate
      .rule(seen)
      .then((ruling) => follow(ruling, request, response, next))
      .catch((error: unknown) => (response.headersSent ? next(error) : sendAnswer(response, waitAnswer(undefined))));
  };
  return Object.assign(middleware, { flush: gate.flush, counts: gate.counts });
}

/**
 * Has Express make the page at another path in place of this one; undefined where the server is none that can be asked so. What was mounted in front of
 * the gate is asked once more.
 */
function elsewhere(
  request: ExpressRequest,
  response: ServerResponse,
  path: string,
  asked: WeakSet<IncomingMessage>,
): (() => void) | undefined {
  const { app } = request;
  if (typeof app !== 'function') return undefined;
  // Where the app stands, not the gate: a path that the gate is mounted at is the app's own, and has to be found again.
  const mount = app.path?.() ?? '';
  if (!path.startsWith(`${mount}/`)) return undefined;
  return () => {
    asked.add(request);
    Object.assign(request, { url: path.slice(mount.length), originalUrl: path, baseUrl: mount });
    app(request, response);
  };
}

interface ExpressRequest extends IncomingMessage {
  readonly originalUrl?: string;
  /** Of an app in an app the inner one; its `path` is where it is mounted. */
  readonly app?: ((request: IncomingMessage, response: ServerResponse) => void) & { readonly path?: () => string };
}

/** `originalUrl`: a router in front may have taken the beginning of the path away. */
function seenOf(request: IncomingMessage & { readonly originalUrl?: string }): SiteRequest<IncomingMessage> {
  const header = (name: string): string | undefined => {
    const value = request.headers[name];
    return typeof value === 'string' ? value : value?.join(', ');
  };
  const peer = (): string | undefined => request.socket?.remoteAddress;
  return { method: request.method ?? 'GET', target: request.originalUrl ?? request.url ?? '/', header, peer, original: request };
}
