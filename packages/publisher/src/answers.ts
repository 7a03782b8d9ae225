/** Answers that the gate gives itself, and the headers it puts on pages that were paid. */
import type { NextStep, Quote } from './client.ts';
import type { CrawlerError } from './core/crawlerError.ts';
import type { V2Offer } from './core/fitOffer.ts';
import { clipText, fitOffer, MOST_OUR_HEADER_BYTES } from './core/fitOffer.ts';
import type { LicenseError } from './core/licenseError.ts';
import { licenseChallenge } from './core/licenseError.ts';
import { dollars } from './core/usdc.ts';
import { bodyWithOwnNonce, NONCE_OCTETS, withOwnNonce } from './selling/ownNonce.ts';

/** An answer, ready to be sent. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** For agents that run in web pages of other origins. No cookie opens a page, so that such a page may read every header of ours. */
const FOR_BROWSERS = { 'access-control-allow-origin': '*', 'access-control-expose-headers': '*' };

/** Of every 402, and of every page that somebody paid for: it is one reader's alone, and whole. */
const PRIVATE = {
  ...FOR_BROWSERS,
  'cache-control': 'private, no-store',
  vary: 'PAYMENT-SIGNATURE, X-PAYMENT, SIGN-IN-WITH-X, Authorization, User-Agent, Accept',
  'accept-ranges': 'none',
};

/** What of an answer of verify goes on to the buyer. */
export interface Settlement {
  readonly headers?: Headers | undefined;
  readonly chargedMicro?: string;
  readonly licence?: string;
}

/** Headers of a page that was paid for, now or by a licence. */
export function paidHeaders(settlement: Settlement = {}): Readonly<Record<string, string>> {
  const { chargedMicro, licence } = settlement;
  return {
    ...PRIVATE,
    ...forwarded(settlement.headers),
    ...(licence === undefined ? {} : { 'x-licence': licence }),
    ...(chargedMicro === undefined || !/^\d{1,15}$/.test(chargedMicro) ? {} : { 'crawler-charged': dollars(chargedMicro) }),
  };
}

/**
 * What to change on a page's own headers so that it has these, too: `vary` is added to, and a site's own words about other origins stay.
 */
export function merged(
  ours: Readonly<Record<string, string>>,
  present: (name: string) => string | null | undefined,
): Readonly<Record<string, string>> {
  const changes: Record<string, string> = {};
  for (const [name, value] of Object.entries(ours)) {
    const own = present(name);
    if (name === 'vary' && own) changes[name] = `${own}, ${value}`;
    else if (!name.startsWith('access-control-') || !own) changes[name] = value;
  }
  return changes;
}

/** True for a header that tells caches, above Cache-Control or beside it, how long to keep a page that everybody may have. */
export function isForCaches(name: string): boolean {
  return /^(surrogate-control|(.+-)?cdn-cache-control|expires|etag|last-modified|age)$/i.test(name);
}

/** True for a header that speaks of one connection. Beside the length of a page that is whole, `transfer-encoding` makes it unreadable. */
export function isHopByHop(name: string): boolean {
  return /^(transfer-encoding|connection|keep-alive|trailer|upgrade|te|proxy-(connection|authenticate|authorization))$/i.test(
    name,
  );
}

/** 402 with an offer for both generations of clients: version 2 reads the header, version 1 the body, people a page about it. */
export function offerAnswer(
  quote: Quote,
  told: {
    readonly error: string | undefined;
    /** What its reader can do about the error; unless told, to sign again by this offer. */
    readonly next?: NextStep;
    /** What is wrong with the license; nothing unless told: none was shown. */
    readonly licenseError?: LicenseError;
    /** What is wrong with the price that the reader named; nothing unless told. */
    readonly crawlerError?: CrawlerError | null;
    readonly accept: string;
    /** About how many tokens the page has as Markdown, where that is known. */
    readonly tokens?: number | undefined;
    readonly settlement?: Settlement;
    readonly isHead: boolean;
  },
): Answer {
  const isPage = /\btext\/html\b/i.test(told.accept);
  const others = {
    ...PRIVATE,
    ...forwarded(told.settlement?.headers),
    'crawler-price': dollars(quote.price),
    ...(told.tokens === undefined ? {} : { 'x-markdown-tokens': String(told.tokens) }),
    ...(told.crawlerError ? { 'crawler-error': told.crawlerError } : {}),
    'www-authenticate': licenseChallenge(told.licenseError ?? 'invalid_request'),
    'content-type': `${isPage ? 'text/html' : 'application/json'}; charset=utf-8`,
  };
  const room = MOST_OUR_HEADER_BYTES - lineBytes(others);
  const { header, body } = told.error === undefined ? quote.x402 : withError(quote, told.error, offerBytes(room), told.next);
  const offer = { 'payment-required': withOwnNonce(quote, header) };
  // Who pays already needs no documents.
  const links = told.settlement === undefined ? linksWithin(toldLink(quote), room - lineBytes(offer)) : {};
  const headers = { ...others, ...offer, ...links };
  if (told.isHead) return { status: 402, headers, body: '' };
  return {
    status: 402,
    headers,
    body: isPage
      ? pageOf(quote, told.error)
      : bodyWithOwnNonce(quote, told.error === undefined ? textOf(quote) : JSON.stringify(body)),
  };
}

/** 503 without an offer: a client that gets one would sign and pay again. */
export function waitAnswer(retryAfter: number | undefined, settlement?: Settlement): Answer {
  const seconds = Math.min(Math.max(Math.ceil(retryAfter ?? 5), 1), 3_600);
  const headers = { ...forwarded(settlement?.headers), 'retry-after': String(seconds) };
  const sentence = 'please try again shortly, with the same payment';
  const told = { code: 'overloaded', sentence, next: { action: 'wait', seconds } };
  return refused(503, told, headers);
}

/** 403 for whom the owner refuses, 400 for an address that can have no price and for a payment with a body. */
export function refusalAnswer(status: 400 | 403): Answer {
  if (status === 400) {
    const sentence = 'agents cannot read this address, or not with a body in the request';
    return refused(status, { code: 'invalid_resource', sentence, next: { action: 'fix_request' } });
  }
  const error: CrawlerError = 'CrawlerForbidden';
  const told = { code: 'agent_refused', sentence: 'this site does not serve this agent', next: { action: 'ask_owner' } };
  return refused(status, told, { 'crawler-error': error });
}

/** A refusal as the service has them: code, sentence, and what to do next. */
function refused(
  status: number,
  { code, sentence, next }: { readonly code: string; readonly sentence: string; readonly next: NextStep },
  headers: Readonly<Record<string, string>> = {},
): Answer {
  const own = { 'content-type': 'application/json; charset=utf-8', 'x-svc-error-code': code };
  return { status, headers: { ...PRIVATE, ...headers, ...own }, body: JSON.stringify({ error: `${code}: ${sentence}`, next }) };
}

/** What a browser is told that asks whether a page of another origin may send a payment. */
export function preflightAnswer(): Answer {
  return {
    status: 204,
    headers: {
      'access-control-allow-origin': '*',
      'access-control-allow-methods': 'GET, HEAD',
      // The asterisk covers every name but this one (Fetch standard).
      'access-control-allow-headers': '*, Authorization',
      'access-control-max-age': '600',
    },
    body: '',
  };
}

const MAX_LINK_CHARS = 2_048;
/** A quote is shown to many: its link is looked at once. */
const linkOf = new WeakMap<Quote, string>();

/**
 * The one header of a 402 that the service says: Link, where documents about the site stand; empty where there is none. What an answer costs and why
 * it is one is the gate's to say, by the quote, and nothing of the service's says anything about the site, its cookies or who may read it.
 */
function toldLink(quote: Quote): string {
  const known = linkOf.get(quote);
  if (known !== undefined) return known;
  const value: unknown = quote.x402.headers?.['link'];
  const link = typeof value === 'string' && value.length <= MAX_LINK_CHARS && /^[\x20-\x7e]+$/.test(value) ? value : '';
  linkOf.set(quote, link);
  return link;
}

/** A quote is shown to many: its JSON is made once. */
const texts = new WeakMap<Quote, string>();

function textOf(quote: Quote): string {
  const text = texts.get(quote) ?? JSON.stringify(quote.x402.body);
  texts.set(quote, text);
  return text;
}

/** The settlement response under the one name that the payer's generation of clients reads: twice it may be too long for a proxy. */
function forwarded(headers: Headers | undefined): Record<string, string> {
  const value = headers?.get('payment-response') ?? headers?.get('x-payment-response');
  if (!value) return {};
  return { [isOfVersion1(value) ? 'x-payment-response' : 'payment-response']: value };
}

/** Version 1 of x402 names a network by a word, version 2 by `namespace:reference` (CAIP-2). */
function isOfVersion1(settlementResponse: string): boolean {
  try {
    const { network } = JSON.parse(atob(settlementResponse)) as { readonly network?: unknown };
    return typeof network === 'string' && network !== '' && !network.includes(':');
  } catch {
    return false;
  }
}

/** Of the links those that fit into so many bytes, the first ones first. */
function linksWithin(link: string, bytes: number): Readonly<Record<string, string>> {
  let kept: Readonly<Record<string, string>> = {};
  for (const one of link.split(/, (?=<)/)) {
    const longer = { link: kept['link'] === undefined ? one : `${kept['link']}, ${one}` };
    if (one !== '' && lineBytes(longer) <= bytes) kept = longer;
  }
  return kept;
}

/** Bytes of headers as HTTP/1.1 writes them. */
function lineBytes(headers: Readonly<Record<string, string>>): number {
  return Object.entries(headers).reduce((sum, [name, value]) => sum + name.length + value.length + 4, 0);
}

/** How much JSON PAYMENT-REQUIRED holds in so much room, before a nonce has its own digits. */
function offerBytes(room: number): number {
  const characters = room - lineBytes({ 'payment-required': '' });
  return Math.floor(characters / 4) * 3 - NONCE_OCTETS;
}

/** The same offer with the reason of a refusal in both of its forms; in the header as much of both as `mostBytes` of JSON hold. */
function withError(
  { x402 }: Quote,
  error: string,
  mostBytes: number,
  next: NextStep = { action: 'sign_again' },
): { readonly header: string; readonly body: object } {
  const bytes = Uint8Array.from(atob(x402.header), (letter) => letter.charCodeAt(0));
  const whole = JSON.parse(new TextDecoder().decode(bytes)) as V2Offer;
  const v2 = fitOffer({ ...whole, error: clipText(error) }, mostBytes);
  const text = String.fromCharCode(...new TextEncoder().encode(JSON.stringify(v2)));
  return { header: btoa(text), body: { ...x402.body, error, next } };
}

const STYLE =
  ':root{color-scheme:light dark}body{max-width:38rem;margin:12vh auto;padding:0 1.5rem;font:1.0625rem/1.6 system-ui,sans-serif}' +
  'h1{font-size:1.75rem;line-height:1.25}strong{font-size:1.25rem}small{opacity:.75}.why{border-left:.25rem solid #c33;padding-left:.75rem}';

/** A small page for somebody in a browser who is taken for an agent. */
function pageOf({ title, slug, price, payees }: Quote, error: string | undefined): string {
  const name = escaped(title ?? slug);
  const authors = payees
    .map(({ authorId, share }) => `<li>${escaped(authorId)} (${Math.round(share * 1_000) / 10} %)</li>`)
    .join('');
  const reason = error === undefined ? '' : `<p class="why">${escaped(error)}</p>`;
  return `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="robots" content="noindex">
<title>${name}</title><style>${STYLE}</style>
<h1>${name}</h1>${reason}<p>Agents read this page for <strong>${escaped(dollars(price))}</strong>, paid to its authors:</p><ul>${authors}</ul>
<p><small>Pay with any x402 client: the offer is in the header <code>PAYMENT-REQUIRED</code> of this answer, and in its body for
<code>Accept: application/json</code>. If you are a person and see this, your browser says that it is an automated agent.</small></p></html>`;
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (letter) => `&#${letter.charCodeAt(0)};`);
}
