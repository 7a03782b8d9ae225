/**
 * Scopes of licences, as the service reads them (RFC 9309 §2.2.2 and 2.2.3): patterns of paths with `*` and a closing `$`. Here to spare the
 * service a question that it would answer with no; a yes is always the service's.
 */

/** False when a scope lists patterns and none covers the path of `resource`; true also for a scope that only names its pages by a hash. */
export function mayCover(scope: unknown, resource: string): boolean {
  const { patterns } = (scope ?? {}) as { readonly patterns?: unknown };
  if (!Array.isArray(patterns)) return true;
  const path = plain(new URL(resource).pathname);
  return patterns.some((pattern) => typeof pattern === 'string' && covers(pattern, path));
}

function covers(pattern: string, path: string): boolean {
  const isAnchored = pattern.endsWith('$');
  const [first = '', ...rest] = (isAnchored ? pattern.slice(0, -1) : pattern).split('*').map(plain);
  if (!path.startsWith(first)) return false;
  if (isAnchored && rest.length === 0) return path === first;
  const last = isAnchored ? (rest.pop() ?? '') : '';
  let from = first.length;
  for (const part of rest) {
    const found = path.indexOf(part, from);
    if (found < 0) return false;
    from = found + part.length;
  }
  return path.endsWith(last) && path.length - last.length >= from;
}

/** A path without its encoding, segment by segment, and with one slash for several. */
function plain(path: string): string {
  return path
    .replace(/\/{2,}/g, '/')
    .split('/')
    .map(decoded)
    .join('/');
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
