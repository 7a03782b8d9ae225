/** What the offer of a page says besides its price and who gets it: one file an extension, one line each below. */
import type { QuoteBase } from '../../../pricing/rules/quote.ts';
import type { PublisherDeps } from '../deps.ts';
import type { NetworkDestination } from '../issue.ts';
import { bazaar } from './bazaar.ts';
import { licence } from './licence.ts';
import { terms } from './terms.ts';

/** What extensions are made with. */
export type ExtensionDeps = Pick<PublisherDeps, 'baseUrl' | 'clock' | 'quoteTokenSecrets'>;

/** The offer they stand in. */
export interface ExtensionFacts {
  readonly quote: QuoteBase;
  /** One entry of `accepts` each, in this order. */
  readonly destinations: readonly NetworkDestination[];
}

/** Makes an extension as `{info, schema, …}`; null where the offer has none. Asks nobody: it runs for each quote. */
export type OfferExtension = (deps: ExtensionDeps, facts: ExtensionFacts) => object | null;

const EXTENSIONS: Readonly<Record<string, OfferExtension>> = {
  bazaar,
  'svc-licence': licence,
  terms,
};

/** The extensions of a page's offer by their names. A payment that echoes them or leaves them out settles just the same. */
export function offerExtensions(deps: ExtensionDeps, facts: ExtensionFacts): Readonly<Record<string, object>> {
  const made = Object.entries(EXTENSIONS).map(([name, make]) => [name, make(deps, facts)] as const);
  return Object.fromEntries(made.filter((one): one is readonly [string, object] => one[1] !== null));
}
