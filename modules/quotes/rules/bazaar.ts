/** The extension by which catalogues of x402 file a page. */
import { canonicalPath } from '../../kernel/pages/scope.ts';

/** Clients echo it in a header of theirs: no more than what says that this is a page that is got. */
const SCHEMA = {
  type: 'object',
  properties: {
    input: { properties: { type: { const: 'http' }, method: { const: 'GET' } }, required: ['type', 'method'] },
  },
  required: ['input'],
};

/** The extension; `slug` of one page, null for all of a route. Nothing in it may differ from request to request: servers compare what clients echo. */
export function bazaarOf(slug: string | null, routeTemplate: string | null): object {
  const input = { type: 'http', method: 'GET', ...(slug === null ? {} : { pathParams: { slug } }) };
  return {
    info: { input, output: { type: 'html' } },
    schema: SCHEMA,
    ...(routeTemplate === null ? {} : { routeTemplate }),
  };
}

const USABLE = /^\/[a-zA-Z0-9_/:.\-~%]+$/;

/**
 * The route that a page is one of, as catalogues of x402 file it (`/articles/:slug`): without one every article would be an entry of its own.
 * `path` decoded and plain, and ending in its slug. Null for a path that no template can say.
 */
export function routeTemplateOf(path: string, slug: string): string | null {
  if (!path.endsWith(slug)) return null;
  return prefixTemplate(path.slice(0, path.length - slug.length));
}

/** The route of everything below a prefix that ends with a slash; null for one that no template can say. */
function prefixTemplate(prefix: string): string | null {
  const literal = canonicalPath(prefix).replace(/[!'()]/g, (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`);
  const template = `${literal}:slug`;
  return prefix.endsWith('/') && USABLE.test(template) && !prefix.includes('..') && !prefix.includes('://') ? template : null;
}
