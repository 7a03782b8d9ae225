/** Addresses that a site names: where it is served from, and who issues its licences. */
import { isThisMachine } from './host.ts';
import { parseName } from './hostname.ts';

/** Longest issuer, in characters: every licence repeats it, and has 4 KB in all. */
export const MAX_ISSUER_CHARS = 255;

/**
 * The origin of a site's server (TenantSelfRow, `origin_url`) as a URL parser writes it: scheme, host, and a port that is not the
 * scheme's own (RFC 6454). Null for anything else: a path, a query, a user, another scheme than https (or http on a loopback host).
 */
export function parseOrigin(text: string): string | null {
  const url = parseSecure(text);
  return url !== null && url.href === `${url.origin}/` ? url.origin : null;
}

/**
 * The issuer of a site's licences, their `iss` (RFC 8414 §2): kept to the letter, since the checker of a licence compares it so. Null
 * unless it is a URL of at most 255 characters, https (or http on a loopback host), without user, query and fragment, as a URL
 * parser writes it but for one slash at the end.
 */
export function parseIssuer(text: string): string | null {
  const url = text.length <= MAX_ISSUER_CHARS && !/[?#]/.test(text) ? parseSecure(text) : null;
  return url !== null && (url.href === text || url.href === `${text}/`) ? text : null;
}

/** An https URL of a host name, or http on this machine, without a user; null for another. */
function parseSecure(text: string): URL | null {
  const url = /^[!-~]+$/.test(text) ? URL.parse(text) : null;
  if (url === null || url.username !== '' || url.password !== '') return null;
  if (isThisMachine(url.hostname)) return url.protocol === 'https:' || url.protocol === 'http:' ? url : null;
  return url.protocol === 'https:' && parseName(url.hostname).ok ? url : null;
}
