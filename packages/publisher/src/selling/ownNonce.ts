/** What a wallet may sign that bought a page (`sign-in-with-x`): each answer asks for words of its own. */
import type { Quote } from '../client.ts';

/** The nonce of what a wallet may sign (`sign-in-with-x`) in the offer of a quote; null in one that declares none. */
const nonces = new WeakMap<Quote, string | null>();

function nonceOf(quote: Quote): string | null {
  const known = nonces.get(quote);
  if (known !== undefined) return known;
  const { extensions } = JSON.parse(atob(quote.x402.header)) as { extensions?: Record<string, { info?: { nonce?: unknown } }> };
  const nonce = extensions?.['sign-in-with-x']?.info?.nonce;
  const found = typeof nonce === 'string' && /^[0-9a-f]{32,76}$/.test(nonce) ? nonce : null;
  nonces.set(quote, found);
  return found;
}

/**
 * The header of an offer with a nonce of this answer's own: a quote is shown to many, and each may show once what it signed. The service takes its
 * nonce with digits of anybody's behind it.
 */
export function withOwnNonce(quote: Quote, header: string): string {
  const nonce = nonceOf(quote);
  if (nonce === null) return header;
  const own = crypto
    .getRandomValues(new Uint8Array(10))
    .reduce((text, octet) => text + octet.toString(16).padStart(2, '0'), nonce);
  return btoa(atob(header).replace(nonce, own));
}
