/** What the offer of a page says besides its price and who gets it. */
import { parseResource } from '../../../kernel/hosts/host.ts';
import type { DocumentName } from '../../../kernel/pages/documents.ts';
import { DOCUMENTS, documentUrl } from '../../../kernel/pages/documents.ts';
import type { QuoteBase } from '../../../pricing/rules/quote.ts';
import { bazaarOf, routeTemplateOf } from '../../rules/bazaar.ts';
import type { PublisherDeps } from '../deps.ts';
import type { NetworkDestination } from '../issue.ts';
import { EXTENSION_SCHEMA } from './build.ts';

/** What extensions are made with. */
export type ExtensionDeps = Pick<PublisherDeps, 'baseUrl' | 'clock' | 'quoteTokenSecrets'>;

/** The offer they stand in. */
export interface ExtensionFacts {
  readonly quote: QuoteBase;
  /** One entry of `accepts` each, in this order. */
  readonly destinations: readonly NetworkDestination[];
}

/** Makes an extension as `{info, schema, …}`; null where the offer has none. Asks nobody: it runs for each quote. */
type OfferExtension = (deps: ExtensionDeps, facts: ExtensionFacts) => object | null;

/** How catalogues of x402 file the page. */
const bazaar: OfferExtension = (_deps, { quote: { resource, slug } }) =>
  bazaarOf(slug, routeTemplateOf(parseResource(resource)?.path ?? '', slug));

/** That many pages can be had at once: where a licence is quoted and bought, and the keys that sign what its buyer gets. */
const licence: OfferExtension = ({ baseUrl }) => ({
  info: {
    service: baseUrl,
    quote: `${baseUrl}/_svc/licenses/quote`,
    buy: `${baseUrl}/_svc/licenses`,
    accounts: `${baseUrl}/_svc/accounts/challenge`,
    jwks: `${baseUrl}/.well-known/jwks.json`,
  },
  schema: EXTENSION_SCHEMA,
});

const TERMS = 'license.xml';

/** Under which terms the page is given: the licence document of its host, where there is one. */
const terms: OfferExtension = ({ baseUrl }, { quote: { host } }) => {
  if (!Object.hasOwn(DOCUMENTS, TERMS)) return null;
  return { info: { format: 'uri', terms: documentUrl(baseUrl, host, TERMS as DocumentName) }, schema: EXTENSION_SCHEMA };
};

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
