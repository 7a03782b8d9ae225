/**
 * A site's prices in the words of RSL 1.0 (https://rslstandard.org/rsl): what is asked for under which paths, what it may be used for,
 * and where a token for it is available. Pure: everything comes from the resolver that the gate charges by, nothing is priced here.
 */
import type { LicenceTerm } from '../../../kernel/licence/period.ts';
import { usdText } from '../../../kernel/money/money.ts';
import { MAX_PATTERN_CHARS, MAX_STARS } from '../../../kernel/pages/scope.ts';
import type { CrossingKind } from '../../../kernel/terms.ts';
import type { XmlElement } from '../../../kernel/xml.ts';
import { printXml, xml } from '../../../kernel/xml.ts';
import type { RslPath } from './paths.ts';

/** The namespace and the media type of RSL documents. */
export const RSL_NAMESPACE = 'https://rslstandard.org/rsl';
export const RSL_TYPE = 'application/rsl+xml';

/** What a document is made of. */
export interface RslTenant {
  readonly host: string;
  /** What is asked under which paths (paths.ts). */
  readonly paths: readonly RslPath[];
  readonly sellsTraining: boolean;
}

/** One set of terms. */
export interface RslLicence {
  readonly kind: CrossingKind;
  readonly terms: readonly LicenceTerm[];
  readonly element: XmlElement;
}

/** What stands under one `<content>`. */
export interface RslContent {
  /** Absolute, pattern and all. */
  readonly url: string;
  /** The pattern alone: what a licence is asked for with. */
  readonly pattern: string;
  /** True where every licence costs something, and a token for it is available. */
  readonly isSold: boolean;
  readonly licences: readonly RslLicence[];
}

/** Terms of one price; null: free. */
interface Group {
  readonly kind: CrossingKind;
  readonly priceMicro: bigint | null;
  readonly terms: LicenceTerm[];
}

/** The uses that a site sells or gives, in the order of the vocabulary. */
const USES = ['search', 'ai-index', 'ai-input', 'ai-train'] as const satisfies readonly LicenceTerm[];

/**
 * The contents of a site's document, in the order of its paths. What is free stands apart from what costs: a server named beside it would
 * oblige every client to fetch a token for it, too.
 */
export function rslContents(tenant: RslTenant): readonly RslContent[] {
  const uses = USES.filter((use) => tenant.sellsTraining || use !== 'ai-train');
  return tenant.paths.flatMap((path) => contentsOf(`https://${tenant.host}${path.pattern}`, path, uses));
}

function contentsOf(url: string, path: RslPath, uses: readonly LicenceTerm[]): readonly RslContent[] {
  const { pattern } = path;
  const groups = groupsOf(path, uses);
  const free = groups.filter(({ priceMicro }) => priceMicro === null);
  const sold = groups.filter(({ priceMicro }) => priceMicro !== null);
  const withheld = USES.filter((use) => !groups.some(({ terms }) => terms.includes(use)));
  const contentOf = (some: readonly Group[], isSold: boolean): readonly RslContent[] =>
    some.length === 0 ? [] : [{ url, pattern, isSold, licences: some.map((group) => licenceOf(url, group, withheld)) }];
  if (groups.length > 0) return [...contentOf(free, false), ...contentOf(sold, isScope(pattern))];
  const refusal = xml('license', {}, [xml('prohibits', { type: 'usage' }, ['all'])]);
  return [{ url, pattern, isSold: false, licences: [{ kind: 'read', terms: [], element: refusal }] }];
}

/** Uses of one kind and price together; a citation that is free where reading is says nothing more. */
function groupsOf(path: RslPath, uses: readonly LicenceTerm[]): readonly Group[] {
  const groups: Group[] = [];
  for (const kind of ['read', 'citation'] as const) {
    for (const use of uses) {
      const outcome = path.outcomeOf(kind, use);
      if (outcome === 'refused' || (kind === 'citation' && outcome === 'free' && path.outcomeOf('read', use) === 'free'))
        continue;
      const priceMicro = outcome === 'free' ? null : outcome.priceMicro;
      const group = groups.find((one) => one.kind === kind && one.priceMicro === priceMicro);
      if (group) group.terms.push(use);
      else groups.push({ kind, priceMicro, terms: [use] });
    }
  }
  return groups;
}

/**
 * A list of what is permitted is closed. Prohibited is only what no licence of these pages permits: a prohibition wins over the licence
 * beside it.
 */
function licenceOf(url: string, { kind, priceMicro, terms }: Group, withheld: readonly LicenceTerm[]): RslLicence {
  const element = xml('license', {}, [
    xml('permits', { type: 'usage' }, [terms.join(' ')]),
    ...(withheld.length === 0 ? [] : [xml('prohibits', { type: 'usage' }, [withheld.join(' ')])]),
    priceMicro === null ? xml('payment', { type: 'free' }) : paymentOf(url, kind, priceMicro),
  ]);
  return { kind, terms, element };
}

/** A read is paid by the crawl, a citation by the use. What a 402 asks is what counts (RSL 1.0, 3.11). */
function paymentOf(url: string, kind: CrossingKind, priceMicro: bigint): XmlElement {
  const data = JSON.stringify({ x402Version: 2, resource: { url } });
  return xml('payment', { type: kind === 'read' ? 'crawl' : 'use' }, [
    xml('amount', { currency: 'USD' }, [usdText(priceMicro)]),
    xml('accepts', { type: 'application/x402+json' }, [{ data }]),
  ]);
}

/** True for a pattern that a licence can be asked for with: to print one may make it longer. */
function isScope(pattern: string): boolean {
  return pattern.length <= MAX_PATTERN_CHARS && pattern.split('*').length <= MAX_STARS + 1;
}

/** Days after which a client has to look again. */
const MAX_AGE_DAYS = 1;

/** A site's `license.xml`: the same contents and moment give the same bytes. `changedAtMs`: when its terms changed last. */
export function rslDocument(contents: readonly RslContent[], server: string, changedAtMs: number): string {
  const lastmod = `${new Date(changedAtMs).toISOString().slice(0, 19)}Z`;
  const elements = contents.map(({ url, isSold, licences }) =>
    xml(
      'content',
      { url, server: isSold ? server : null, lastmod },
      licences.map(({ element }) => element),
    ),
  );
  const root = xml('rsl', { xmlns: RSL_NAMESPACE, 'max-age': String(MAX_AGE_DAYS) }, elements);
  return `<?xml version="1.0" encoding="UTF-8"?>\n${printXml(root)}\n`;
}
