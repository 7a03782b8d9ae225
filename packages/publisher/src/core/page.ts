/**
 * Which page a request is about, in the one form that the service compares pages in. The service prices; here is only decided whether it
 * has to be asked, and when in doubt it is.
 */

/** What of a site's pages is in scope, as the service says it. */
export type GateScope =
  | { readonly mode: 'prefixes' }
  | { readonly mode: 'site'; readonly excludePrefixes: readonly string[]; readonly includeExtensions?: readonly string[] };

/** Where pages with a price may stand. */
export interface Scope {
  /** Each begins and ends with a slash. */
  readonly articlePrefixes: readonly string[];
  readonly gateScope: GateScope;
}

/** Read free by everybody everywhere: what crawlers read before they know what anything costs, and proofs of the host. */
const ALWAYS_OPEN = /^\/(robots\.txt|sitemap\.xml|security\.txt|crawlers\.json|\.well-known(\/.*)?)$/;
/** A file name's ending, where the site names the endings that are pages. */
const EXTENSION = /\.[a-z0-9]{1,15}$/i;

/** Scheme and host of a target of the absolute form: servers route by what follows, whatever these say. */
const AUTHORITY = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i;

/** A step up or on the spot, which clients resolve before they ask. */
const DOTS = /(?:\/|%2f|\\|%5c)(?:\.|%2e){1,2}(?:\/|%2f|\\|%5c|$)/i;

/**
 * An escaped control character, or what else ends a line: the service compares such a path as sent, while routers and pages read it decoded, `42%0A`
 * often as 42.
 */
const CONTROL = /%[01][0-9a-f]|%7f|%c2%[89][0-9a-f]|%e2%80%a[89]/i;
/** Escapes in a row, as one that reads what it can takes them. */
const ESCAPES = /(?:%[0-9a-f]{2})+/gi;

/**
 * The pathname of a request target, as sent; null for one that can be no page's, as `*`. A target of the absolute form is taken for its path, of
 * any scheme and with a host that none could have; one that begins with two slashes is a path, too. One with dot segments or a control
 * character is null: whether it is a page, and which, every server decides by itself.
 */
export function pathnameOf(target: string): string | null {
  const path = target.replace(AUTHORITY, '').split(/[?#]/, 1)[0] ?? '';
  const text = `http://host${path}`;
  if (!path.startsWith('/') || DOTS.test(path) || !URL.canParse(text)) return null;
  const { pathname } = new URL(text);
  return CONTROL.test(pathname) ? null : pathname;
}

/**
 * A path in plain form: decoded, repeated slashes as one and closing ones as none, `.` and `..` resolved. A path whose escapes are no text, or
 * hide a control character, stays as sent.
 */
export function plainPath(pathname: string): string {
  return tidy(decoded(pathname) ?? pathname);
}

function tidy(path: string): string {
  const merged = path.replace(/\/{2,}/g, '/');
  return (merged.includes('/.') ? resolveDots(merged) : merged).replace(/\/$/, '') || '/';
}

function resolveDots(path: string): string {
  const kept: string[] = [];
  for (const part of path.split('/').slice(1)) {
    if (part === '..') kept.pop();
    else if (part !== '.') kept.push(part);
  }
  return `/${kept.join('/')}`;
}

function decoded(pathname: string): string | null {
  try {
    const path = decodeURIComponent(pathname);
    return hasControlCharacter(path) ? null : path;
  } catch {
    return null;
  }
}

function hasControlCharacter(text: string): boolean {
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code < 0x20 || (code >= 0x7f && code < 0xa0)) return true;
  }
  return false;
}

/**
 * A path as a lenient router reads it (Hono's): escapes that are text are decoded, others stay. Of `/article%73/%FF` that is an article, of its plain form
 * none.
 */
export function lenientPath(pathname: string): string {
  return tidy(pathname.replace(ESCAPES, (escapes) => decoded(escapes) ?? escapes));
}

/** What follows the longest article prefix that fits a plain path; null when none fits or nothing follows. */
export function slugOf(prefixes: readonly string[], path: string): string | null {
  let longest: string | null = null;
  for (const prefix of prefixes) {
    if (path.startsWith(prefix) && path.length > prefix.length && prefix.length > (longest?.length ?? 0)) longest = prefix;
  }
  return longest === null ? null : path.slice(longest.length);
}

/** True when the service has to be asked about a plain path. Letters are compared without case: many servers send a page for any. */
export function isInScope({ articlePrefixes, gateScope }: Scope, path: string): boolean {
  if (ALWAYS_OPEN.test(path)) return false;
  const isArticle = slugOf(articlePrefixes.map(lower), lower(path)) !== null;
  if (gateScope.mode === 'prefixes') return isArticle;
  if (gateScope.excludePrefixes.some((prefix) => isUnder(prefix, path))) return false;
  const extension = EXTENSION.exec(path.slice(path.lastIndexOf('/')))?.[0].toLowerCase();
  const { includeExtensions } = gateScope;
  return isArticle || includeExtensions === undefined || extension === undefined || includeExtensions.includes(extension);
}

/** `/api` and `/api/` leave out `/api` and what is below it, never `/apiary`. */
function isUnder(prefix: string, path: string): boolean {
  const folder = plainPath(prefix);
  return folder === '/' || path === folder || path.startsWith(`${folder}/`);
}

/**
 * Plain paths that a server might mean by one: itself, and, where it is spelled with other letters, with its prefix and with all of it as most
 * servers that ignore case would read it. The first that has a price counts.
 */
export function spellingsOf(prefixes: readonly string[], path: string): readonly string[] {
  const small = lower(path);
  const slug = slugOf(prefixes.map(lower), small);
  if (slug === null) return [path];
  const prefix = prefixes.find((one) => lower(one) === small.slice(0, small.length - slug.length)) ?? '/';
  return [...new Set([path, prefix + path.slice(path.length - slug.length), prefix + slug])];
}

/** The address of a plain path on an origin, each segment encoded: the service reads the same path from it. */
export function resourceOf(origin: string, path: string): string {
  return origin + path.split('/').map(encodeURIComponent).join('/');
}

/** In lower case, each letter as long as it was. */
function lower(text: string): string {
  return text.replace(/\p{Lu}/gu, (letter) => (letter.toLowerCase().length === letter.length ? letter.toLowerCase() : letter));
}
