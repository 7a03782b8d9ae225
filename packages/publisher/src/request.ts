/** A request as the gate reads it, whatever server it came to. */

/** What the gate reads of a request. */
export interface SiteRequest<Original = unknown> {
  readonly method: string;
  /** The request target as sent: a path with its query, or a whole address. */
  readonly target: string;
  /** One header; several of one name are joined by commas. */
  readonly header: (name: string) => string | null | undefined;
  /** The address at the other end of the connection, where the platform knows it. */
  readonly peer?: () => string | undefined;
  /** The server's own request, for the site's hooks. */
  readonly original: Original;
}

const MAX_PAYMENT_CHARS = 16_384;
/** What only an agent sends that wants to pay. */
export const PAYING: readonly string[] = [
  'payment-signature',
  'x-payment',
  'sign-in-with-x',
  'crawler-max-price',
  'crawler-exact-price',
  'accept-payment',
];
/** Headers that ask for a part of a page, or for none if it has not changed: a buyer gets the whole page. */
export const PARTIAL = ['range', 'if-range', 'if-none-match', 'if-modified-since', 'if-match', 'if-unmodified-since'] as const;

/** A payment that came with a request, or why there is none that counts. */
export type ShownPayment =
  | { readonly state: 'none' | 'two' | 'long' | 'laden'; readonly value?: undefined }
  | { readonly state: 'one'; readonly value: string };

/**
 * The payment of a request. `laden`: it has a body, which a sender can make a server wait for. Some wallets send both headers; they must
 * hold one and the same signature.
 */
export function paymentOf({ header }: Pick<SiteRequest, 'header'>): ShownPayment {
  const [v2, v1] = [header('payment-signature') || null, header('x-payment') || null];
  const value = v2 ?? v1;
  if (value === null) return { state: 'none' };
  if (header('transfer-encoding') || !/^0*$/.test(header('content-length') ?? '')) return { state: 'laden' };
  if (value.length > MAX_PAYMENT_CHARS || (v1?.length ?? 0) > MAX_PAYMENT_CHARS) return { state: 'long' };
  const isTwo = v1 !== null && v2 !== null && v1 !== v2 && (signatureOf(v1) ?? 'one') !== (signatureOf(v2) ?? 'another');
  return isTwo ? { state: 'two' } : { state: 'one', value };
}

function signatureOf(payment: string): string | null {
  try {
    const { payload } = JSON.parse(atob(payment)) as { payload?: { signature?: unknown } };
    return typeof payload?.signature === 'string' ? payload.signature : null;
  } catch {
    return null;
  }
}

/** The licence of a request: `Authorization: License <licence>`. */
export function licenceOf({ header }: Pick<SiteRequest, 'header'>): string | null {
  return /^License +(\S+) *$/i.exec(header('authorization') ?? '')?.[1] ?? null;
}

/** True when a request speaks of money, as no browser does by itself. */
export function wantsToPay(request: Pick<SiteRequest, 'header'>): boolean {
  for (const name of PAYING) if (request.header(name)) return true;
  const authorization = request.header('authorization');
  return authorization ? /^License /i.test(authorization) : false;
}

/** True when a request asks for Markdown, which tools do for their models and no browser does. */
export function wantsMarkdown({ header }: Pick<SiteRequest, 'header'>): boolean {
  return /\btext\/(?:x-)?markdown\b/i.test(header('accept') ?? '');
}

/**
 * True when a browser asks whether a page of another origin may send what only an agent sends that wants to pay. One that asks for `Authorization`
 * alone is the site's to answer: whose credentials it takes from other origins is its own rule.
 */
export function isPreflight({ method, header }: Pick<SiteRequest, 'method' | 'header'>): boolean {
  if (method !== 'OPTIONS') return false;
  const asked = (header('access-control-request-headers') ?? '').toLowerCase().split(',');
  return asked.some((name) => PAYING.includes(name.trim()));
}
