/** Host names that can be proven: strict rules. */
import { normaliseHost } from './host.ts';

/** Names that never leave a network or a machine, or that nobody can own (RFC 6761, 6762, 7686, 8375, and `.internal`). */
const RESERVED_SUFFIXES: readonly string[] = [
  'local',
  'internal',
  'localhost',
  'test',
  'onion',
  'arpa',
  'invalid',
  'alt',
  'intranet',
  'lan',
  'home',
  'corp',
  'private',
];

/** Services that lend names under their own to others; the names in this list prove nothing about a publisher. */
const PLATFORM_APEXES: readonly string[] = [
  'wordpress.com',
  'wpengine.com',
  'wixsite.com',
  'wix.com',
  'squarespace.com',
  'webflow.io',
  'shopify.com',
  'myshopify.com',
  'ghost.io',
  'substack.com',
  'medium.com',
  'tumblr.com',
  'blogspot.com',
  'blogger.com',
  'typepad.com',
  'livejournal.com',
  'github.io',
  'github.com',
  'gitlab.io',
  'gitlab.com',
  'bitbucket.io',
  'netlify.app',
  'netlify.com',
  'vercel.app',
  'vercel.com',
  'now.sh',
  'pages.dev',
  'workers.dev',
  'web.app',
  'firebaseapp.com',
  'appspot.com',
  'run.app',
  'herokuapp.com',
  'fly.dev',
  'onrender.com',
  'render.com',
  'amazonaws.com',
  'cloudfront.net',
  'azurewebsites.net',
  'azureedge.net',
  'windows.net',
  'cloudflare.net',
  'fastly.net',
  'akamai.net',
  'edgekey.net',
  'google.com',
  'sites.google.com',
  'notion.site',
  'framer.app',
  'carrd.co',
  'weebly.com',
  'jimdosite.com',
  'strikingly.com',
  'duda.co',
  'hubspotpagebuilder.com',
  'facebook.com',
  'x.com',
];

/** A host name in its one form, or why it is none. */
export type HostnameParse = { readonly ok: true; readonly host: string } | { readonly ok: false; readonly sentence: string };

const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/**
 * Brings a host name into its one form: lower case, A-labels (UTS 46). Refuses what is not 3 to 253 characters of at least two
 * labels of letters, digits and hyphens, a trailing dot, and an address in any notation. Says nothing about whose it may be.
 */
export function parseName(text: string): HostnameParse {
  if (text.length > 1_000) return refused('is too long');
  const host = asciiHost(text);
  if (host === null) return refused('must be a host name: labels of letters, digits and hyphens, at least two');
  if (host.length < 3 || host.length > 253) return refused('must have 3 to 253 characters');
  const labels = host.split('.');
  if (labels.length < 2 || !labels.every((label) => LABEL.test(label))) {
    return refused('must be a host name: labels of letters, digits and hyphens, at least two');
  }
  const last = labels.at(-1) ?? '';
  // What ends in a number is an IPv4 address to every URL parser (WHATWG URL, "ends in a number").
  if (/^(\d+|0x[0-9a-f]*)$/.test(last)) return refused('must be a name, not an address');
  return isStable(host) ? { ok: true, host } : refused('contains a label that is not a valid internationalised name');
}

/**
 * `parseName` of a host that can be proven: refuses names that lead to no public site and those of platforms, too. Public suffixes
 * are another list's (`platform/outbound/publicSuffix.ts`).
 */
export function parseHostname(text: string): HostnameParse {
  const parsed = parseName(text);
  if (!parsed.ok) return parsed;
  const { host } = parsed;
  const last = host.slice(host.lastIndexOf('.') + 1);
  if (RESERVED_SUFFIXES.includes(last) || host === 'home.arpa') return refused('is a reserved name that no public site can have');
  const bare = host.startsWith('www.') ? host.slice(4) : host;
  if (PLATFORM_APEXES.includes(host) || PLATFORM_APEXES.includes(bare))
    return refused('is the name of a platform, not of a site');
  return parsed;
}

/** A host that a filter names, in the form that rows keep: A-labels, lower case, no trailing dot. What is no name stays as it is. */
export function keptHost(text: string): string {
  return normaliseHost(asciiHost(text) ?? text);
}

/** A name in lower case and A-labels; null where characters are not those of a host name. Plain names are not rewritten by any parser. */
function asciiHost(text: string): string | null {
  if (/^[A-Za-z0-9.-]*$/.test(text)) return text.toLowerCase();
  // Nothing of ASCII but what host names hold: no port, path, userinfo or space may hide here.
  if (!text.isWellFormed() || /[^A-Za-z0-9.\-\u0080-\u{10ffff}]/u.test(text)) return null;
  return URL.canParse(`https://${text}/`) ? new URL(`https://${text}/`).hostname : null;
}

/** True when a URL parser reads the name as itself: false for a broken `xn--` label and for an address it would rewrite. */
function isStable(host: string): boolean {
  return URL.canParse(`https://${host}/`) && new URL(`https://${host}/`).hostname === host;
}

function refused(sentence: string): HostnameParse {
  return { ok: false, sentence };
}
