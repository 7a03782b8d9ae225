/** What each page that a site names costs by one version of its prices, and what another version would change. */
import type { Leg } from '../../kernel/money/legs.ts';
import { normalisePrefix, slugOf } from '../../kernel/pages/resource.ts';
import { canonicalPath } from '../../kernel/pages/scope.ts';
import type { CrossingKind } from '../../kernel/terms.ts';
import { NOBODY } from './compiled.ts';
import type { CompiledPricing, FreeBecause, Price } from './pricing.ts';
import { legsOf } from './quote.ts';

/** A page of the catalogue; its path is canonical (modules/kernel/pages/scope.ts). */
export interface CataloguedPage {
  readonly slug: string;
  readonly path: string;
  readonly title: string | null;
  /** True when it was imported with credits: these are paid unless inline credits name the page. */
  readonly isCredited: boolean;
}

/** A page that the site names, in its catalogue or by inline credits. */
export interface NamedPage {
  readonly path: string;
  readonly title: string | null;
  /** The slug it was imported by; null: inline credits alone name it. */
  readonly importedSlug: string | null;
  /** As of its import; false: it was not imported. */
  readonly isCredited: boolean;
}

/**
 * What a page costs: so much; `asked`: so much if its credits API, which is not asked here, names somebody, or if somebody is paid for pages that
 * name nobody; or nothing, and why; `refused`: a rule refuses both kinds. Always what an agent is asked that nobody verified.
 */
export type PagePrice =
  | {
      readonly state: 'priced' | 'asked';
      /** 0 where only the other kind costs something; null where it is refused. */
      readonly readMicro: bigint | null;
      readonly citationMicro: bigint | null;
      readonly freeBecause: null;
    }
  | { readonly state: 'free'; readonly readMicro: null; readonly citationMicro: null; readonly freeBecause: FreeBecause }
  | { readonly state: 'refused'; readonly readMicro: null; readonly citationMicro: null; readonly freeBecause: null };

/** A page with its price, and who gets what of one read. */
export interface ListedPage extends NamedPage {
  /** Null: no article of the site. */
  readonly slug: string | null;
  readonly price: PagePrice;
  readonly legs: readonly Leg[];
}

/** Pages that cost the same before, and the same after. */
export interface PriceStep {
  readonly before: PagePrice;
  readonly after: PagePrice;
  readonly pages: number;
  /** The first of their paths. */
  readonly paths: readonly string[];
}

/** Paths that a step shows. */
export const MAX_STEP_PATHS = 5;

/** Every page that is named, ascending by path: those imported, and those that inline credits of a version name. */
export function namedPages(imported: readonly CataloguedPage[], versions: readonly CompiledPricing[]): readonly NamedPage[] {
  const pages = new Map<string, NamedPage>();
  for (const pricing of versions) {
    const [prefix] = pricing.articlePrefixes ?? ['/'];
    if (prefix === undefined) continue;
    for (const slug of pricing.inlineSlugs) {
      const path = canonicalPath(`${normalisePrefix(prefix)}${slug}`);
      const title = pricing.inlineCredits(slug)?.title ?? null;
      if (!pages.has(path)) pages.set(path, { path, title, importedSlug: null, isCredited: false });
    }
  }
  for (const { path, title, slug, isCredited } of imported) {
    pages.set(path, { path, title: title ?? pages.get(path)?.title ?? null, importedSlug: slug, isCredited });
  }
  return [...pages.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** A page as a version prices it at a moment. */
export function listPage(pricing: CompiledPricing, page: NamedPage, atMs: number): ListedPage {
  const { slug, read, citation } = pricesOf(pricing, page, atMs);
  const legs = read.kind === 'priced' ? legsOf(read.micro, read.credits.authors) : [];
  return { ...page, slug, price: pagePrice(read, citation, page), legs };
}

/** What becomes of the pages when one version follows another at a moment: one step for each pair of prices, those of most pages first. */
export function priceSteps(
  pages: readonly NamedPage[],
  { before, after, atMs }: { readonly before: CompiledPricing; readonly after: CompiledPricing; readonly atMs: number },
): readonly PriceStep[] {
  const steps = new Map<string, { before: PagePrice; after: PagePrice; pages: number; paths: string[] }>();
  for (const page of pages) {
    const [from, to] = [before, after].map((pricing) => {
      const { read, citation } = pricesOf(pricing, page, atMs);
      return pagePrice(read, citation, page);
    });
    if (from === undefined || to === undefined) continue;
    const key = [from, to]
      .map((price) => `${price.state} ${price.freeBecause ?? price.readMicro} ${price.citationMicro}`)
      .join(' ');
    const step = steps.get(key) ?? { before: from, after: to, pages: 0, paths: [] };
    step.pages++;
    if (step.paths.length < MAX_STEP_PATHS) step.paths.push(page.path);
    steps.set(key, step);
  }
  return [...steps.values()].sort((a, b) => b.pages - a.pages);
}

function pricesOf(pricing: CompiledPricing, { path, isCredited }: Pick<NamedPage, 'path' | 'isCredited'>, atMs: number) {
  const slug = slugOf(pricing.articlePrefixes, decoded(path));
  const priceOf = (kind: CrossingKind): Price => listed(pricing.resolve({ ...NOBODY, path, slug, atMs, kind }), isCredited);
  return { slug, read: priceOf('read'), citation: priceOf('citation') };
}

/** A price as far as the list knows the authors: what its import does not name, and no credits API is asked about, stays with the default payee. */
function listed(price: Price, isCredited: boolean): Price {
  if (price.kind !== 'looked_up' || isCredited || price.source.apiUrl !== null) return price;
  const { micro, otherwise: credits, ruleId } = price;
  return credits ? { kind: 'priced', micro, credits, ruleId } : { kind: 'free', because: 'no_credits', ruleId };
}

function pagePrice(read: Price, citation: Price, { isCredited }: Pick<NamedPage, 'isCredited'>): PagePrice {
  if (read.kind === 'free' && citation.kind === 'free') {
    return { state: 'free', readMicro: null, citationMicro: null, freeBecause: read.because };
  }
  if (read.kind === 'refused' && citation.kind === 'refused') {
    return { state: 'refused', readMicro: null, citationMicro: null, freeBecause: null };
  }
  const isAsked = !isCredited && [read, citation].some(({ kind }) => kind === 'looked_up');
  const state = isAsked ? 'asked' : 'priced';
  return { state, readMicro: microOf(read), citationMicro: microOf(citation), freeBecause: null };
}

function microOf(price: Price): bigint | null {
  if (price.kind === 'refused') return null;
  return price.kind === 'free' ? 0n : price.micro;
}

function decoded(path: string): string {
  try {
    return path.split('/').map(decodeURIComponent).join('/');
  } catch {
    return path;
  }
}
