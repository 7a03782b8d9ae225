import { isAddress, judgeAddress } from './address.ts';

/** What URLs an outgoing request may have. */
export interface UrlPolicy {
  /** The sandbox's override: loopback hosts, with http and any port. Refused by the configuration in production. */
  readonly allowLoopback: boolean;
  /** Ports beside 443. */
  readonly extraPorts?: readonly number[];
  /** Names that lead to ourselves, lower case. */
  readonly ownHosts?: readonly string[];
}

/** A URL that may be sent to, as one parser wrote it; or why not. */
export type UrlCheck =
  | { readonly ok: true; readonly url: URL }
  | { readonly ok: false; readonly reason: 'invalid_url' | 'blocked_address' };

const MAX_URL_LENGTH = 2_048;
/** Names that never leave a network or a machine (RFC 6761, 6762, 7686, 9476, and the reserved `.internal`). */
const LOCAL_NAMES = /(^|\.)(localhost|local|internal|intranet|lan|home|corp|test|invalid|onion|arpa|alt|home\.arpa)$/;

/**
 * Checks a URL before it is stored and again before it is sent to: https, port 443 (or an extra one), no
 * userinfo, no address literal (in any notation a URL parser reads), a name with a dot that is not a local one.
 */
export function checkOutboundUrl(text: string, policy: UrlPolicy): UrlCheck {
  if (text.length > MAX_URL_LENGTH || !URL.canParse(text)) return { ok: false, reason: 'invalid_url' };
  const url = new URL(text);
  if (url.username !== '' || url.password !== '') return { ok: false, reason: 'invalid_url' };
  url.hash = '';
  const name = bareHost(url.hostname);
  if (policy.allowLoopback && isLoopbackName(name)) {
    return url.protocol === 'https:' || url.protocol === 'http:' ? { ok: true, url } : { ok: false, reason: 'invalid_url' };
  }
  if (url.protocol !== 'https:') return { ok: false, reason: 'invalid_url' };
  if (url.port !== '' && !(policy.extraPorts ?? []).includes(Number(url.port))) return { ok: false, reason: 'invalid_url' };
  if (isAddress(name) || !name.includes('.') || LOCAL_NAMES.test(name)) return { ok: false, reason: 'blocked_address' };
  if (policy.ownHosts?.includes(name)) return { ok: false, reason: 'blocked_address' };
  return { ok: true, url };
}

/** The host of a URL without IPv6 brackets and without the root's dot, however often it stands there. */
export function bareHost(hostname: string): string {
  return hostname.replace(/^\[|\]$/g, '').replace(/\.{1,253}$/, '');
}

function isLoopbackName(name: string): boolean {
  return name === 'localhost' || (isAddress(name) && judgeAddress(name) === 'loopback');
}
