import { canonicalPath } from '../../kernel/pages/scope.ts';

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
