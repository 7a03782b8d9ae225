/**
 * What a page costs and who gets it, from one version of a tenant's pricing. Prices are plain
 * decimals of USD as text; the arithmetic to micro is done once, exactly.
 */
import type { PageCredits } from './credits.ts';
import { flattenCredits } from './credits.ts';
import { ServiceError } from './errors.ts';
import { hasControlCharacter } from './host.ts';
import { MAX_PRICE_MICRO, parseDecimal, priceToMicro } from './money.ts';
import { MAX_SLUG_CHARS, normalisePrefix, plainSlug } from './resource.ts';
import type { CrossingKind } from './terms.ts';

/** A citation costs this many reads unless the tenant says otherwise. */
export const DEFAULT_CITATION_MULTIPLIER = '5';
/** How long after its end a pricing version is still accepted without a quote token (safety rule 17). */
export const PRICING_GRACE_MS = 600_000;

/** One version of a tenant's pricing, as stored. */
export interface Pricing {
  /** Decimal USD a read costs. */
  readonly priceUsdc: string;
  readonly citationMultiplier: string | null;
  readonly articlePrefixes: readonly string[] | null;
  /** slug → credits; null = none. */
  readonly creditsInline: Readonly<Record<string, unknown>> | null;
  readonly creditsFreeSlugs: readonly string[] | null;
  readonly creditsApiUrl: string | null;
}

/**
 * Why a page is free: nobody is named who could be paid for it, its owner named it free (also by its credits API), it is no article of the
 * site (or the site is not sold yet), or the site's price is 0.
 */
export type FreeBecause = 'no_credits' | 'free_slug' | 'out_of_scope' | 'no_price';

/** A price found: free, so much for these authors, or to be asked at the tenant's credits API. */
export type Price =
  | { readonly kind: 'free'; readonly because: FreeBecause }
  | { readonly kind: 'priced'; readonly micro: bigint; readonly credits: PageCredits }
  | { readonly kind: 'credits_api'; readonly micro: bigint; readonly apiUrl: string };

/** A pricing version made quick to ask; the credits of a page are flattened at its first quote. */
export interface CompiledPricing {
  readonly articlePrefixes: readonly string[] | null;
  readonly readMicro: bigint;
  readonly citationMicro: bigint;
  /** Slugs that credits_inline names. */
  readonly inlineSlugs: readonly string[];
  /** True when nothing is charged for a page of this slug, whoever wrote it. */
  isFree(slug: string): boolean;
  /** Price of an article's slug; a null slug is a page that is no article. Throws invalid_parameter for broken stored credits. */
  priceOf(slug: string | null, kind: CrossingKind): Price;
}

/** Refuses a pricing that could not be quoted: invalid_parameter with the place. `forbidden` wallets: the asset, the router. */
export function validatePricing(pricing: Pricing, forbidden: readonly string[] = []): void {
  const refuse = (parameter: string, sentence: string): never => {
    throw new ServiceError('invalid_parameter', `${parameter}: ${sentence}`, { parameter });
  };
  const price = parseDecimal(pricing.priceUsdc);
  if (!price || price.scale > 6) refuse('price_usdc', 'a decimal of USD with at most 6 places');
  const multiplier = parseDecimal(pricing.citationMultiplier ?? DEFAULT_CITATION_MULTIPLIER);
  if (!multiplier || multiplier.digits === 0n || multiplier.scale > 4) refuse('citation_multiplier', 'a positive decimal');
  if (microOf(pricing, 'citation') > MAX_PRICE_MICRO) refuse('price_usdc', 'is too large');
  for (const prefix of pricing.articlePrefixes ?? []) {
    const usable =
      prefix.startsWith('/') && prefix.length <= MAX_SLUG_CHARS && !/[?#]/.test(prefix) && !hasControlCharacter(prefix);
    if (!usable) refuse('article_prefixes', 'each prefix is a path that begins with a slash');
  }
  for (const slug of pricing.creditsFreeSlugs ?? []) if (!isSlug(slug)) refuse('credits_free_slugs', 'each entry is a slug');
  for (const [slug, entry] of Object.entries(pricing.creditsInline ?? {})) {
    if (!isSlug(slug)) refuse('credits_inline', 'each key is a slug');
    flattenCredits(entry, `credits_inline.${slug}`, forbidden);
  }
}

/** Compiles a version; `floorMicro` is the lowest price of anything that is not free. A price of 0 is free. */
export function compilePricing(pricing: Pricing, floorMicro: bigint): CompiledPricing {
  const atLeast = (micro: bigint): bigint => (micro < floorMicro ? floorMicro : micro);
  const readMicro = atLeast(microOf(pricing, 'read'));
  const citationMicro = atLeast(microOf(pricing, 'citation'));
  const isFree = parseDecimal(pricing.priceUsdc)?.digits === 0n;
  const freeSlugs = new Set((pricing.creditsFreeSlugs ?? []).map(plainSlug));
  const inline = new Map(Object.entries(pricing.creditsInline ?? {}).map(([slug, entry]) => [plainSlug(slug), entry] as const));
  const flattened = new Map<string, PageCredits>();
  const creditsOf = (slug: string): PageCredits => {
    const credits = flattened.get(slug) ?? flattenCredits(inline.get(slug), `credits_inline.${slug}`);
    flattened.set(slug, credits);
    return credits;
  };
  return {
    articlePrefixes: pricing.articlePrefixes?.map(normalisePrefix) ?? null,
    readMicro,
    citationMicro,
    inlineSlugs: [...inline.keys()],
    isFree: (slug) => isFree || freeSlugs.has(slug),
    priceOf: (slug, kind) => {
      if (slug === null) return { kind: 'free', because: 'out_of_scope' };
      if (freeSlugs.has(slug)) return { kind: 'free', because: 'free_slug' };
      if (isFree) return { kind: 'free', because: 'no_price' };
      const micro = kind === 'read' ? readMicro : citationMicro;
      if (inline.has(slug)) return { kind: 'priced', micro, credits: creditsOf(slug) };
      const apiUrl = pricing.creditsApiUrl;
      return apiUrl === null ? { kind: 'free', because: 'no_credits' } : { kind: 'credits_api', micro, apiUrl };
    },
  };
}

function microOf(pricing: Pricing, kind: CrossingKind): bigint {
  return priceToMicro(pricing.priceUsdc, kind === 'read' ? '1' : (pricing.citationMultiplier ?? DEFAULT_CITATION_MULTIPLIER));
}

function isSlug(slug: string): boolean {
  return slug !== '' && slug.length <= MAX_SLUG_CHARS && slug.isWellFormed() && !hasControlCharacter(slug);
}
