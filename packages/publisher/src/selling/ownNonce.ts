/** What a wallet may sign that bought a page (`sign-in-with-x`): each answer asks for words of its own. */
import type { Quote } from '../client.ts';

/** The header of a quote's offer around the nonce of what a wallet may sign: what stands before and behind is encoded once for all answers. */
interface Around {
  readonly nonce: string;
  /** Encoded: whole groups of three octets. */
  readonly before: string;
  /** As text, up to three octets each: what shares a group with the nonce. */
  readonly left: string;
  readonly right: string;
  /** Encoded as it stands behind a nonce with our digits. */
  readonly behind: string;
}

/** Null in an offer that declares no nonce. */
const offers = new WeakMap<Quote, Around | null>();
const OWN_OCTETS = 10;
/** By how much an answer's own digits lengthen a nonce. */
export const NONCE_OCTETS = 2 * OWN_OCTETS;
const HEX = Array.from({ length: 256 }, (_, octet) => octet.toString(16).padStart(2, '0'));

/** Random octets, drawn for many answers at a time; each is used once. */
const pool = new Uint8Array(OWN_OCTETS * 100);
let used = pool.length;

function ownDigits(): string {
  if (used + OWN_OCTETS > pool.length) {
    crypto.getRandomValues(pool);
    used = 0;
  }
  let text = '';
  for (const end = used + OWN_OCTETS; used < end; used += 1) text += HEX[pool[used] as number];
  return text;
}

function aroundOf(quote: Quote): Around | null {
  const known = offers.get(quote);
  if (known !== undefined) return known;
  const text = atob(quote.x402.header);
  const { extensions } = JSON.parse(text) as { extensions?: Record<string, { info?: { nonce?: unknown } }> };
  const nonce = extensions?.['sign-in-with-x']?.info?.nonce;
  const found = typeof nonce === 'string' && /^[0-9a-f]{32,76}$/.test(nonce) ? cut(text, nonce) : null;
  offers.set(quote, found);
  return found;
}

function cut(text: string, nonce: string): Around {
  const at = text.indexOf(nonce);
  const from = at - (at % 3);
  const end = at + nonce.length;
  const to = end + ((3 - ((end - from + NONCE_OCTETS) % 3)) % 3);
  return {
    nonce,
    before: btoa(text.slice(0, from)),
    left: text.slice(from, at),
    right: text.slice(end, to),
    behind: btoa(text.slice(to)),
  };
}

/**
 * The header of an offer with a nonce of this answer's own: a quote is shown to many, and each may show once what it signed. The service takes its
 * nonce with digits of anybody's behind it.
 */
export function withOwnNonce(quote: Quote, header: string): string {
  const around = aroundOf(quote);
  if (around === null) return header;
  const { nonce, before, left, right, behind } = around;
  const own = nonce + ownDigits();
  if (header !== quote.x402.header) return btoa(atob(header).replace(nonce, own));
  return before + btoa(left + own + right) + behind;
}

/** The body of an offer, as JSON, with a nonce of this answer's own; of a body that declares none the body. */
export function bodyWithOwnNonce({ x402 }: Quote, body: string): string {
  const { extensions } = x402.body as { extensions?: Record<string, { info?: { nonce?: unknown } }> };
  const nonce = extensions?.['sign-in-with-x']?.info?.nonce;
  return typeof nonce === 'string' && /^[0-9a-f]{32,76}$/.test(nonce) ? body.replace(nonce, nonce + ownDigits()) : body;
}
