import { documentUrl } from '../../../kernel/pages/documents.ts';
import type { RslContent } from '../../../pricing/rules/rsl/contents.ts';
import { rslDocument } from '../../../pricing/rules/rsl/contents.ts';
import { rslPaths } from '../../../pricing/rules/rsl/paths.ts';
import { robotsLines, robotsText } from '../../../pricing/rules/rsl/robots.ts';
import type { DocumentMaker } from '../makers.ts';
import { olpBase, readRslTerms } from './terms.ts';

/** The document of some contents as it was printed last: they stay the same until a price changes, and hundreds of them take a while to print. */
const printed = new WeakMap<readonly RslContent[], { readonly changedAtMs: number; readonly text: string }>();

/** A host's `license.xml`: RSL 1.0, from the prices that the gate charges. */
export const makeLicenceXml: DocumentMaker = async (deps, site) => {
  const { contents, changedAtMs } = await readRslTerms(deps, site);
  const known = printed.get(contents);
  if (known?.changedAtMs === changedAtMs) return known;
  const made = { text: rslDocument(contents, olpBase(deps.baseUrl), changedAtMs), changedAtMs };
  printed.set(contents, made);
  return made;
};

/** Lines for a host's robots.txt, from the same terms. */
export const makeRobotsText: DocumentMaker = async (deps, site) => {
  const { sellsTraining } = await readRslTerms(deps, site);
  const lines = robotsLines({
    documentUrl: documentUrl(deps.baseUrl, site.host, 'license.xml'),
    paths: rslPaths(site.pricing, deps.clock()),
    isByAgent: site.pricing.namedByRules.size > 0,
    sellsTraining,
  });
  return robotsText(lines);
};
