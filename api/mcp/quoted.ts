/** What a page costs, as tools show it. */
import type { NextStep } from '../../modules/kernel/errors.ts';
import type { CrossingKind } from '../../modules/kernel/terms.ts';
import type { Quote } from '../../modules/pricing/rules/quote.ts';
import type { FreePage } from '../../modules/storefront/use/pages/page.ts';
import { tokensOf } from '../../modules/storefront/use/pages/tokens.ts';

/**
 * What of a quote tells a buyer what he pays, to whom, for about how many tokens of text (where that is known), and until when; what only a gate needs is
 * left out.
 */
export function quotedBody(quote: Quote, baseUrl: string): Readonly<Record<string, unknown>> {
  const tokens = tokensOf(quote.resource);
  const { resource, kind, price, currency, title, legs, network, asset, payTo, otherNetworks = [], expiresAt, host } = quote;
  return {
    url: resource,
    kind,
    state: 'priced',
    priceMicro: price,
    currency,
    ...(tokens === null ? {} : { tokens }),
    ...(title === undefined ? {} : { title }),
    legs,
    networks: [
      { network, asset, payTo },
      ...otherNetworks.map((other) => ({ network: other.network, asset: other.asset, payTo: other.payTo })),
    ],
    expiresAt,
    terms: `${baseUrl}/_svc/discovery/${host}/license.xml`,
  };
}

/**
 * A page without a price. `free` is what its owner or its site says; of an address where nothing is sold nobody here knows whether a page stands there.
 * Either is read at its site, without a licence.
 */
export function unpricedBody(
  { url, because }: Pick<FreePage, 'url' | 'because'>,
  kind: CrossingKind,
): Readonly<Record<string, unknown>> {
  const next: NextStep = { action: 'get_it_free', url };
  const howToRead = `GET ${url}, without a licence`;
  if (because !== 'no_credits' && because !== 'out_of_scope') return { url, kind, state: 'free', because, howToRead, next };
  const says = 'nothing is sold at this address; its site says whether a page stands there';
  return { url, kind, state: 'not_sold', because, says, howToRead, next };
}
