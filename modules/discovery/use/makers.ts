import type { DocumentName } from '../../kernel/pages/documents.ts';
import type { PublisherDeps } from '../../quotes/use/deps.ts';
import { didDocumentOf } from '../../receipts/use/did.ts';
import { catalogOf } from '../rules/catalog.ts';
import { guideOf } from '../rules/guide.ts';
import { makeManifest } from './manifest.ts';
import { makeLicenceXml, makeRobotsText } from './rsl/documents.ts';
import type { DocumentSite } from './site.ts';

/** A text that changes with more than the version of the prices, and since when it stands: epoch milliseconds. */
export interface DatedText {
  readonly text: string;
  readonly changedAtMs: number;
}
type Made = string | DatedText | null;

/** Makes a document of a site; null where the site has none. The same site gives the same text. */
export type DocumentMaker = (deps: PublisherDeps, site: DocumentSite) => Made | Promise<Made>;

/** The guide of a host for language models. */
const makeGuide: DocumentMaker = ({ baseUrl, clock }, { host, pricing }) =>
  guideOf({ baseUrl, host, classes: pricing.classes(clock()), hasUnnamed: pricing.unnamed() !== null });

/** Who makes which document. One line each. */
export const MAKERS: Readonly<Record<DocumentName, DocumentMaker>> = {
  'x402.json': makeManifest,
  x402: makeManifest,
  'api-catalog': ({ baseUrl }, { host }) => JSON.stringify(catalogOf(baseUrl, host)),
  'llms.txt': makeGuide,
  'license.xml': makeLicenceXml,
  'robots.txt': makeRobotsText,
  'did.json': (deps, { host }) => JSON.stringify(didDocumentOf(deps, host)),
};
