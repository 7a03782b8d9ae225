/** A signed request (RFC 9421) as its signature is checked, here or by the service. */
import type { SiteRequest } from '../request.ts';

/** The request as its signer saw it: the public address, and every field that the signature may cover, names in lower case. */
export interface SignedRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

const FIELDS = ['signature', 'signature-input', 'signature-agent'] as const;
const MAX_FIELD_CHARS = 8_192;
const MOST_COVERED = 32;
const COVERED = /"([a-z0-9!#$%&'*+.^_`|~-]{1,100})"/g;
/** What a reader tells this site alone. A signature that covers one of these stays unverified. */
const SECRET: ReadonlySet<string> = new Set(['cookie', 'authorization', 'proxy-authorization', 'payment-signature', 'x-payment']);

/** True for a request that says, signed, which agent sends it. Whether that is so is another matter. */
export function isSigned({ header }: Pick<SiteRequest, 'header'>): boolean {
  return Boolean(header('signature-agent')) && (header('signature-input') ?? '').includes('"web-bot-auth"');
}

/** What of a signed request is checked; null for one that is not signed, or longer than any signature is. */
export function signedRequestOf(
  request: Pick<SiteRequest, 'header' | 'method' | 'target'>,
  origin: string,
): SignedRequest | null {
  if (!isSigned(request)) return null;
  const input = request.header('signature-input') ?? '';
  const covered = [...input.slice(0, MAX_FIELD_CHARS).matchAll(COVERED)].map(([, name]) => name ?? '').slice(0, MOST_COVERED);
  const names = [...new Set([...FIELDS, ...covered])].filter((name) => !SECRET.has(name));
  const fields = names.flatMap((name) => {
    const value = request.header(name);
    return value === null || value === undefined ? [] : [[name, value] as const];
  });
  if (fields.some(([, value]) => value.length > MAX_FIELD_CHARS)) return null;
  const url = `${origin}${pathAndQuery(request.target)}`;
  return URL.canParse(url) ? { method: request.method, url, headers: Object.fromEntries(fields) } : null;
}

/** A target of the absolute form has a host in front, which the site's own stands for. */
function pathAndQuery(target: string): string {
  if (target.startsWith('/')) return target.split('#', 1)[0] ?? '';
  const { pathname, search } = URL.canParse(target) ? new URL(target) : { pathname: '/', search: '' };
  return `${pathname}${search}`;
}
