/** A page's price as tools show it. */
import type { Quote } from '../../modules/pricing/rules/quote.ts';

/** What of a quote tells a buyer what he pays, to whom, and until when; what only a gate needs is left out. */
export function quotedBody(quote: Quote, baseUrl: string): Readonly<Record<string, unknown>> {
  const { resource, kind, price, currency, title, legs, network, asset, payTo, otherNetworks = [], expiresAt, host } = quote;
  return {
    url: resource,
    kind,
    state: 'priced',
    priceMicro: price,
    currency,
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
