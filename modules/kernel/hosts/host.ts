/** Hosts and resource URLs: what counts as the same page, and whose it is. */

/** Longest resource URL we read, in characters. */
export const MAX_RESOURCE_CHARS = 2048;

/** A resource URL taken apart. */
export interface ResourceUrl {
  /** The URL as a client would request it, without its fragment: https, unless it names a port or this machine. */
  readonly url: string;
  /** ASCII host, lower case, without port and trailing dot. */
  readonly host: string;
  /** Decoded path in plain form (`plainPath`), without query. As sent, but for its slashes, where it decodes to no plain text. */
  readonly path: string;
}

/**
 * Takes a resource URL apart; null when it is not an http(s) URL of at most 2,048 characters or carries credentials. The same
 * page spelled in several ways gives one `host` and `path`. A publisher behind a TLS proxy sees http where its readers see https,
 * so a plain http URL is read as the https one.
 */
export function parseResource(text: string): ResourceUrl | null {
  if (text.length === 0 || text.length > MAX_RESOURCE_CHARS || hasControlCharacter(text)) return null;
  const url = /^https?:\/\//i.test(text) ? URL.parse(text) : null;
  if (!url) return null;
  if (url.username !== '' || url.password !== '') return null;
  const path = decodePath(url.pathname);
  const host = normaliseHost(url.hostname);
  if (host === '') return null;
  url.hash = '';
  if (url.port === '' && !isThisMachine(host)) url.protocol = 'https:';
  return { url: url.href, host, path };
}

/** A host in the one form we compare: lower case, no trailing dot. */
export function normaliseHost(host: string): string {
  return host.toLowerCase().replace(/\.$/, '');
}

/** True when `host` is one of a tenant's hosts; both in normal form. */
export function ownsHost(hosts: readonly string[], host: string): boolean {
  return hosts.includes(host);
}

/** The URL of a path on a host, each segment encoded. No URL can hold half a character: it stands as U+FFFD, which is another path. */
export function buildResource(host: string, given: string): ResourceUrl {
  const path = given.toWellFormed();
  const encoded = path.split('/').map(encodeURIComponent).join('/');
  return { url: `https://${host}${encoded}`, host, path };
}

/** What the open-purchase guard and a licence are about: host and path as one text. */
export function resourceKeyOf(resource: Pick<ResourceUrl, 'host' | 'path'>): string {
  return `${resource.host}${resource.path}`;
}

/** True for text with a character no page address or label may hold (C0, DEL, C1). */
export function hasControlCharacter(text: string): boolean {
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code < 0x20 || (code >= 0x7f && code < 0xa0)) return true;
  }
  return false;
}

/**
 * A decoded path as prices, licences and the catalogue compare it: repeated slashes are one, as most servers merge them, and closing
 * ones none, `.` and `..` that were encoded slashes away from being resolved are resolved; `/` for the root. Without this a spelling
 * that a server takes for a page would be priced as none, which is free.
 */
export function plainPath(path: string): string {
  const merged = mergeSlashes(path);
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

/** The same text with one slash for each run of them. */
export function mergeSlashes(text: string): string {
  return text.replace(/\/{2,}/g, '/');
}

function decodePath(pathname: string): string {
  return plainPath(decodedOf(pathname) ?? pathname);
}

/** The path in plain text; null when its escapes are no UTF-8 or hide a control character: such a path is compared as sent. */
function decodedOf(pathname: string): string | null {
  try {
    const path = decodeURIComponent(pathname);
    return hasControlCharacter(path) || !path.isWellFormed() ? null : path;
  } catch {
    return null;
  }
}

/** True for a host, in normal form, that leads to the very machine that asks. */
export function isThisMachine(host: string): boolean {
  return isLoopbackName(host) || host.endsWith('.localhost');
}

/** True for a host that no name server is asked for and that leads to the very machine that asks. */
export function isLoopbackName(host: string): boolean {
  return host === 'localhost' || host === '[::1]' || /^127(\.\d+){3}$/.test(host);
}
