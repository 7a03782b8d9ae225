import { checksumAddress, legsHash } from '../../../../platform/chain/offer.ts';
import type { Address } from '../../../kernel/money/legs.ts';
import { legWord } from '../../../kernel/money/legs.ts';
import type { Terms } from '../../../kernel/terms.ts';
import { clipText, fitOffer, MOST_OFFER_BYTES } from '../../../kernel/x402/fitOffer.ts';
import type { QuoteBase } from '../../../pricing/rules/quote.ts';
import type { NetworkDestination } from '../issue.ts';

/** An offer ready to be sent with a 402: the v2 header value, and the v1 body. */
export interface Offer {
  /** Value of PAYMENT-REQUIRED: base64 of the v2 object, at most 1,976 characters (`fitOffer`). */
  readonly header: string;
  /** JSON body: the v1 object, which v2 clients do not read, with every leg and every extension of the v2 object. */
  readonly body: Readonly<Record<string, unknown>>;
  /** Further headers of the 402, lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
}

/** More legs than this stand in the body only. */
const MAX_HEADER_LEGS = 3;
/** The schema of what our offers say besides: no more of it, since clients echo all of it in a header of theirs. */
export const EXTENSION_SCHEMA = { type: 'object' };

/** What an offer is made of: a quote, and the terms behind it. */
export interface OfferFacts {
  readonly quote: Pick<QuoteBase, 'price' | 'title' | 'slug' | 'resource' | 'maxTimeoutSeconds'>;
  readonly terms: Pick<Terms, 'legWords' | 'payTo'>;
  /** One entry of `accepts` each, in this order; at least one. */
  readonly destinations: readonly NetworkDestination[];
}

/** What an offer may say besides. */
export interface OfferText {
  readonly error?: string;
  readonly mimeType?: string;
  /** Where the legs stand when they are too many for the header. */
  readonly legsUrl?: string;
  /** Whose page it is, as catalogues show it: at most 32 printable characters. */
  readonly serviceName?: string;
  /** Extensions of the v2 object besides the legs, by their names. */
  readonly extensions?: Readonly<Record<string, object>>;
  /** Further headers of the 402, lower-case names. */
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * Builds the offer of a quote for both generations of clients: one entry a network, the cheapest first. The v1 body holds those networks that
 * have a v1 name.
 */
export function buildOffer({ quote, terms, destinations }: OfferFacts, text: OfferText = {}): Offer {
  const words = terms.legWords ?? [legWord({ wallet: terms.payTo, weight: 1n })];
  const { legs, hash } = toldLegs(words);
  const { error = 'Payment required', mimeType = 'text/html', legsUrl, serviceName, extensions, headers = {} } = text;
  const description = quote.title ?? quote.slug;
  const { maxTimeoutSeconds, resource } = quote;
  const amount = String(quote.price);
  const items = destinations.map(({ network, v1Name, asset, payTo, extra }) => ({
    network,
    v1Name,
    extra,
    asset: checksumAddress(asset),
    payTo: checksumAddress(payTo),
  }));
  const info = {
    ...routersOf(destinations),
    legsHash: hash,
    count: legs.length,
    ...(legs.length <= MAX_HEADER_LEGS ? { legs } : legsUrl === undefined ? {} : { legsUrl }),
  };
  // The legs come last: a buyer who recomputes the recipient finds them in the body, too.
  const all = { ...extensions, 'svc-legs': { info, schema: EXTENSION_SCHEMA } };
  const v2 = {
    x402Version: 2,
    error: clipText(error),
    resource: {
      url: resource,
      description: clipText(description),
      mimeType,
      ...(serviceName === undefined ? {} : { serviceName }),
    },
    accepts: items.map(({ network, asset, payTo, extra }) => ({
      scheme: 'exact',
      network,
      amount,
      asset,
      payTo,
      maxTimeoutSeconds,
      extra,
    })),
    extensions: all,
  };
  const v1Items = items.flatMap(({ v1Name, asset, payTo, extra }) => {
    if (v1Name === null) return [];
    const what = { maxAmountRequired: amount, resource, description, mimeType };
    return [{ scheme: 'exact', network: v1Name, ...what, payTo, maxTimeoutSeconds, asset, extra }];
  });
  const body = { x402Version: 1, error, accepts: v1Items, legs, extensions: all };
  const header = Buffer.from(JSON.stringify(fitOffer(v2, MOST_OFFER_BYTES)), 'utf8').toString('base64');
  return { header, body, headers };
}

interface ToldLegs {
  readonly legs: readonly ReturnType<typeof readWord>[];
  readonly hash: `0x${string}`;
}
/** By the words of a page's split, which stay the same array while its quote is kept: hashing them is the dearest part of an offer. */
const told = new WeakMap<readonly `0x${string}`[], ToldLegs>();

function toldLegs(words: readonly `0x${string}`[]): ToldLegs {
  const known = told.get(words) ?? { legs: words.map(readWord), hash: legsHash(words) };
  told.set(words, known);
  return known;
}

/** The router that each recipient can be recomputed with: one where all networks have the same, by network besides where they differ. */
function routersOf(destinations: readonly NetworkDestination[]): Readonly<Record<string, unknown>> {
  const routers = destinations.map(({ network, router }) => [network, checksumAddress(router)] as const);
  const [first] = routers;
  if (!first) throw new RangeError('an offer is for one network at least');
  const areSame = routers.every(([, router]) => router === first[1]);
  return { router: first[1], ...(areSame ? {} : { routers: Object.fromEntries(routers) }) };
}

function readWord(word: `0x${string}`): { readonly toAddress: string; readonly weight: string } {
  const value = BigInt(word);
  const wallet: Address = `0x${(value & ((1n << 160n) - 1n)).toString(16).padStart(40, '0')}`;
  return { toAddress: checksumAddress(wallet), weight: (value >> 160n).toString() };
}
