import type { Network } from '../chain/network.ts';
import { checksumAddress, legsHash } from '../chain/offer.ts';
import type { Address } from '../domain/legs.ts';
import { legWord } from '../domain/legs.ts';
import type { QuoteBase } from '../domain/quote.ts';
import type { Terms } from '../domain/terms.ts';

/** An offer ready to be sent with a 402: the v2 header value, and the v1 body. */
export interface Offer {
  /** Value of PAYMENT-REQUIRED: base64 of the v2 object. */
  readonly header: string;
  /** JSON body: the v1 object, which v2 clients do not read. */
  readonly body: Readonly<Record<string, unknown>>;
}

/** More legs than this stand in the body only: a client echoes the header's extension in its own header. */
const MAX_HEADER_LEGS = 8;
const LEGS_SCHEMA = {
  type: 'object',
  properties: {
    router: { type: 'string' },
    legsHash: { type: 'string' },
    count: { type: 'integer' },
    legs: { type: 'array' },
    legsUrl: { type: 'string' },
  },
  required: ['router', 'legsHash', 'count'],
};

/** What an offer is made of: a quote, and the terms behind it. */
export interface OfferFacts {
  readonly quote: Pick<
    QuoteBase,
    'price' | 'title' | 'slug' | 'resource' | 'payTo' | 'asset' | 'network' | 'maxTimeoutSeconds' | 'extra'
  >;
  readonly terms: Pick<Terms, 'legWords' | 'payTo' | 'router'>;
}

/** What an offer may say besides. */
export interface OfferText {
  readonly error?: string;
  readonly mimeType?: string;
  /** Where the legs stand when they are too many for the header. */
  readonly legsUrl?: string;
}

/** Builds the offer of a quote for both generations of clients; the v1 body accepts nothing where the network has no v1 name. */
export function buildOffer({ quote, terms }: OfferFacts, network: Pick<Network, 'v1Name'>, text: OfferText = {}): Offer {
  const words = terms.legWords ?? [legWord({ wallet: terms.payTo, weight: 1n })];
  const legs = words.map(readWord);
  const { error = 'Payment required', mimeType = 'text/html', legsUrl } = text;
  const description = quote.title ?? quote.slug;
  const { payTo, asset, maxTimeoutSeconds, extra, resource } = quote;
  const amount = String(quote.price);
  const info = {
    router: checksumAddress(terms.router),
    legsHash: legsHash(words),
    count: legs.length,
    ...(legs.length <= MAX_HEADER_LEGS ? { legs } : legsUrl === undefined ? {} : { legsUrl }),
  };
  const v2 = {
    x402Version: 2,
    error,
    resource: { url: resource, description, mimeType },
    accepts: [{ scheme: 'exact', network: quote.network, amount, asset, payTo, maxTimeoutSeconds, extra }],
    extensions: { 'svc-legs': { info, schema: LEGS_SCHEMA } },
  };
  const v1Item = {
    scheme: 'exact',
    network: network.v1Name,
    maxAmountRequired: amount,
    resource,
    description,
    mimeType,
    payTo,
    maxTimeoutSeconds,
    asset,
    extra,
  };
  const body = { x402Version: 1, error, accepts: network.v1Name === null ? [] : [v1Item], legs };
  return { header: Buffer.from(JSON.stringify(v2), 'utf8').toString('base64'), body };
}

function readWord(word: `0x${string}`): { readonly toAddress: string; readonly weight: string } {
  const value = BigInt(word);
  const wallet: Address = `0x${(value & ((1n << 160n) - 1n)).toString(16).padStart(40, '0')}`;
  return { toAddress: checksumAddress(wallet), weight: (value >> 160n).toString() };
}
