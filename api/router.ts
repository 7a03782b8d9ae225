import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';

/** A handler that takes a request as `node:http` gives it. */
export type Handler = (request: IncomingMessage, response: ServerResponse) => void | Promise<void>;

/** A handler and its method and path. */
export interface Routed {
  readonly method: 'get' | 'post' | 'put' | 'delete';
  readonly path: string;
  readonly handler: Handler;
}

/**
 * Sends calls of an exact method and path straight to their handler, and everything else to `fallback`: other methods, paths with
 * parameters, unknown ones. Whatever is answered is the same both ways, since the handler is.
 */
export function createRouter(routed: readonly Routed[], fallback: RequestListener): RequestListener {
  const byMethod = new Map<string | undefined, Map<string, Handler>>();
  for (const { method, path, handler } of routed) {
    const name = method.toUpperCase();
    const byPath = byMethod.get(name) ?? new Map<string, Handler>();
    byMethod.set(name, byPath);
    if (!path.includes(':')) byPath.set(path, handler);
  }
  return (request, response) => {
    const url = request.url ?? '';
    const query = url.indexOf('?');
    const handler = byMethod.get(request.method)?.get(query < 0 ? url : url.slice(0, query));
    if (handler) void handler(request, response);
    else fallback(request, response);
  };
}
