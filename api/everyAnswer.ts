import type { RequestListener } from 'node:http';

/** A year, for this host alone: what else stands under its domain is not ours to decide about. */
const STRICT_TRANSPORT = 'max-age=31536000';

/**
 * The handler with the headers that every answer carries, whoever writes it: `x-content-type-options` always, and
 * `strict-transport-security` where `publicUrl` is https. Over http a browser ignores the latter, and on a developer's machine it
 * would lock out whatever else runs there.
 */
export function withSafetyHeaders(publicUrl: string | undefined, handler: RequestListener): RequestListener {
  const isHttps = publicUrl?.startsWith('https:') ?? false;
  return (request, response) => {
    response.setHeader('x-content-type-options', 'nosniff');
    if (isHttps) response.setHeader('strict-transport-security', STRICT_TRANSPORT);
    return handler(request, response);
  };
}
