import type { IncomingMessage, RequestListener } from 'node:http';
import { ServerResponse } from 'node:http';

/** A year, for this host alone: what else stands under its domain is not ours to decide about. */
const STRICT_TRANSPORT = 'max-age=31536000';

type WriteHead = (this: ServerResponse, status: number, ...given: unknown[]) => ServerResponse;
const writeHead = ServerResponse.prototype.writeHead as WriteHead;

/**
 * The handler with the headers that every answer carries, from any route: `x-content-type-options` always, and
 * `strict-transport-security` where `publicUrl` is https. Over http a browser ignores the latter, and on a developer's machine it
 * would lock out whatever else runs there.
 *
 * They join the answer where its head is written, to which every way of answering comes: a header that is set before makes Node sort
 * the flat list of `send` into a table of headers, and writing the answer to a quote a third dearer.
 */
export function withSafetyHeaders(publicUrl: string | undefined, handler: RequestListener): RequestListener {
  const lines = ['x-content-type-options', 'nosniff'];
  if (publicUrl?.startsWith('https:')) lines.push('strict-transport-security', STRICT_TRANSPORT);
  const writeSafeHead: WriteHead = function writeSafeHead(status, ...given) {
    const headers = given.at(-1);
    if (Array.isArray(headers)) return writeHead.call(this, status, ...given.slice(0, -1), [...headers, ...lines]);
    for (let at = 0; at < lines.length; at += 2) this.setHeader(lines[at] as string, lines[at + 1] as string);
    return writeHead.call(this, status, ...given);
  };
  return (request: IncomingMessage, response: ServerResponse) => {
    response.writeHead = writeSafeHead as ServerResponse['writeHead'];
    return handler(request, response as Parameters<RequestListener>[1]);
  };
}
