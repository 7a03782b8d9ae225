import { linksOf } from '../../../kernel/pages/documents.ts';
import { serviceNameOf } from '../../../pricing/rules/manifest.ts';
import type { QuoteBase } from '../../../pricing/rules/quote.ts';
import type { Offer, OfferFacts, OfferText } from './build.ts';
import { buildOffer } from './build.ts';
import type { ExtensionDeps } from './extensions.ts';
import { offerExtensions } from './extensions.ts';

/** What the offer of a page is made of. */
export type PageOfferFacts = OfferFacts & { readonly quote: QuoteBase };

/**
 * The offer of a page, with everything it says besides. `text.extensions` come before those that every offer has: the client that asked for them uses them,
 * and the header has room for some only.
 */
export function buildPageOffer(deps: ExtensionDeps, facts: PageOfferFacts, text: Omit<OfferText, 'headers'> = {}): Offer {
  const extensions = { ...text.extensions, ...offerExtensions(deps, facts) };
  const { host } = facts.quote;
  const headers = { link: linksOf(deps.baseUrl, host) };
  return buildOffer(facts, { ...text, ...serviceNameOf(host), extensions, headers });
}
