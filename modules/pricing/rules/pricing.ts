/**
 * What a page costs and who gets it, from one version of a tenant's pricing. Prices are plain
 * decimals of USD as text; the arithmetic to micro is done once, exactly.
 */

import { ServiceError } from '../../kernel/errors.ts';
import { hasControlCharacter } from '../../kernel/hosts/host.ts';
import type { PageCredits } from '../../kernel/money/credits.ts';
import { flattenCredits } from '../../kernel/money/credits.ts';
import { formatUsdc, MAX_PRICE_MICRO, parseDecimal, priceToMicro } from '../../kernel/money/money.ts';
import type { PayeeRule } from '../../kernel/money/wallet.ts';
import { MAX_SLUG_CHARS, normalisePrefix, plainSlug } from '../../kernel/pages/resource.ts';
import { exactPattern, matches } from '../../kernel/pages/scope.ts';
import type { CrossingKind } from '../../kernel/terms.ts';
import type { PriceClass } from './classes.ts';
import { classesOf, nextBoundary } from './classes.ts';
import type { Asked, Outcome } from './compiled.ts';
import { compileRules } from './compiled.ts';
import { validateTogether } from './conflicts.ts';
import type { PriceRule, RulePrices } from './rule.ts';
import { refuseRule, ruleMicro, validateEach } from './rule.ts';

/** A citation costs this many reads unless the tenant says otherwise. */
export const DEFAULT_CITATION_MULTIPLIER = '5';
/** How long after its end a pricing version is still accepted without a quote token (safety rule 17). */
export const PRICING_GRACE_MS = 600_000;

/** Who is paid for the pages that name nobody. */
export interface DefaultPayee {
  readonly authorId: string;
  readonly wallet: string;
}

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
  /** Null = none. */
  readonly defaultPayee: DefaultPayee | null;
  /** What holds instead of the price for some pages, agents, uses and times; null = none. */
  readonly rules: readonly PriceRule[] | null;
  /** For how many hours a page opens again to the wallet that paid for it; null: for as long as the licence that it got. */
  readonly readAgainHours: number | null;
}

/** The longest that a page may open again to who paid for it, in hours: a year. */
export const MAX_READ_AGAIN_HOURS = 8_784;

/**
 * Why a page is free: nobody is named who could be paid for it, its owner named it free (also by its credits API), it is no article of the
 * site (or the site is not sold yet), the site's price is 0, or one of its rules says so.
 */
export type FreeBecause = 'no_credits' | 'free_slug' | 'out_of_scope' | 'no_price' | 'free_rule';

/** What a pricing asks for reads and citations. */
export type Prices = Pick<Pricing, 'priceUsdc' | 'citationMultiplier'>;

/** The reason of a report about such a page, as observations and their sums keep it. */
export const NO_CREDITS = 'no_credits' satisfies FreeBecause;

/** Where the authors of pages that inline credits do not name are looked up: first in the pages that the site imported, then at its credits API. */
export interface CreditsSource {
  /** The version of the tenant whose imported pages are meant; null: none of them names an author. */
  readonly catalogueVersion: number | null;
  /** Null: the site has no credits API. */
  readonly apiUrl: string | null;
}

/**
 * A price found: refused, free, so much for these authors, or for authors who are looked up; `otherwise` when that finds nobody.
 * `ruleId`: the rule that decided; null: none did.
 */
export type Price =
  | { readonly kind: 'refused'; readonly ruleId: string }
  | { readonly kind: 'free'; readonly because: FreeBecause; readonly ruleId: string | null }
  | { readonly kind: 'priced'; readonly micro: bigint; readonly credits: PageCredits; readonly ruleId: string | null }
  | {
      readonly kind: 'looked_up';
      readonly micro: bigint;
      readonly source: CreditsSource;
      readonly otherwise: PageCredits | null;
      readonly ruleId: string | null;
    };

/** A pricing version made quick to ask; the credits of a page are flattened at its first quote. */
export interface CompiledPricing {
  readonly articlePrefixes: readonly string[] | null;
  readonly readMicro: bigint;
  readonly citationMicro: bigint;
  /** How long a page opens again to the wallet that paid for it, in seconds; 0: for as long as its licence. */
  readonly readAgainSeconds: number;
  /** Slugs that credits_inline names. */
  readonly inlineSlugs: readonly string[];
  /** Who is paid for a page of `inlineSlugs`; null for any other. Throws invalid_parameter for broken stored credits. */
  inlineCredits(slug: string): PageCredits | null;
  /** True when nobody is ever charged for a page of this slug, no matter who wrote it. */
  isFree(slug: string): boolean;
  /** True for a slug that this version itself names: with authors, or free. */
  isListed(slug: string): boolean;
  /** Where further pages are named; null: nowhere. */
  readonly lookedUpAt: CreditsSource | null;
  /** True when one of its rules, for any caller and time, covers the first path and not the second. Both are canonical. */
  tellsApart(path: string, other: string): boolean;
  /** What a rule says of a form and not of its article, whose canonical path `article` is: that it is free, or given to nobody; null: nothing. */
  ofForm(asked: Asked & { readonly slug: string }, article: string): 'free' | 'refused' | null;
  /** Slugs that are free unless a rule of a path as long says otherwise. */
  readonly freeSlugs: readonly string[];
  /** Operators, categories and terms that some rule names; whatever else an asker says changes no price. */
  readonly namedByRules: ReadonlySet<string>;
  /** Who is paid for a page that inline credits do not name: these, whomever a lookup finds, or nobody, and then such pages are free. */
  unnamed(): PageCredits | 'looked_up' | null;
  /** What a page costs any caller. Throws invalid_parameter for broken stored credits. */
  resolve(asked: Asked): Price;
  /** The same before anybody's credits are asked for: what the page costs if it has authors. */
  outcome(asked: Asked & { readonly slug: string }): Outcome;
  /**
   * What an agent that nobody verified and that says nothing of itself is asked: of a page's patterns the first in the list holds, unless it is a
   * free slug or has no authors. Free slugs are not in it.
   */
  classes(atMs: number): readonly PriceClass[];
  /** The next moment at which a rule begins or ends; null: prices stay until they are set. */
  nextChangeMs(atMs: number): number | null;
  /** The moments after one and up to another at which a rule began or ended, the last first. */
  changesBetween(afterMs: number, untilMs: number): readonly number[];
}

/** Refuses a pricing that could not be quoted: invalid_parameter with the place. `rule`: what a new payee must keep to. */
export function validatePricing(pricing: Pricing, rule: PayeeRule | null): void {
  requirePrices(pricing);
  for (const prefix of pricing.articlePrefixes ?? []) {
    const isText = !hasControlCharacter(prefix) && prefix.isWellFormed();
    const usable = prefix.startsWith('/') && prefix.length <= MAX_SLUG_CHARS && !/[?#]/.test(prefix) && isText;
    if (!usable) refuse('article_prefixes', 'each prefix is a path that begins with a slash');
  }
  for (const slug of pricing.creditsFreeSlugs ?? []) if (!isSlug(slug)) refuse('credits_free_slugs', 'each entry is a slug');
  for (const [slug, entry] of Object.entries(pricing.creditsInline ?? {})) {
    if (!isSlug(slug)) refuse('credits_inline', 'each key is a slug');
    flattenCredits(entry, `credits_inline.${slug}`, rule && { ...rule, page: slug });
  }
  defaultCreditsOf(pricing, rule);
  const { readAgainHours } = pricing;
  const isHours =
    readAgainHours !== null && Number.isInteger(readAgainHours) && readAgainHours >= 1 && readAgainHours <= MAX_READ_AGAIN_HOURS;
  if (readAgainHours !== null && !isHours) refuse('hours', `a whole number from 1 to ${MAX_READ_AGAIN_HOURS}, or null`);
  validateEach(pricing.rules ?? [], rulePrices(pricing));
  validateTogether(pricing.rules ?? [], pricing.articlePrefixes);
}

function refuse(parameter: string, sentence: string): never {
  throw new ServiceError('invalid_parameter', `${parameter}: ${sentence}`, { parameter });
}

function requirePrices(pricing: Prices): void {
  const price = parseDecimal(pricing.priceUsdc);
  if (!price || price.scale > 6) refuse('price_usdc', 'must be a decimal amount in USD with at most 6 places');
  const multiplier = parseDecimal(pricing.citationMultiplier ?? DEFAULT_CITATION_MULTIPLIER);
  if (!multiplier || multiplier.digits === 0n || multiplier.scale > 4) refuse('citation_multiplier', 'a positive decimal');
  if (microOf(pricing, 'citation') > MAX_PRICE_MICRO) refuse('price_usdc', 'is too large');
}

/** What a read and a citation would cost at prices that could be set; 0 makes every page free. Throws invalid_parameter for others. */
export function settableMicro(pricing: Prices, floorMicro: bigint): Readonly<Record<CrossingKind, bigint>> {
  requirePrices(pricing);
  requireFloor(pricing, floorMicro);
  return { read: microOf(pricing, 'read'), citation: microOf(pricing, 'citation') };
}

/**
 * Refuses a price that nobody would be charged: above 0 and below the floor, of a read or of a citation. Throws invalid_parameter, which names
 * the floor. For what is being set: what was stored before there was a floor is charged the floor, and shown so (`chargedPrices`).
 */
export function requireFloor(pricing: Prices, floorMicro: bigint): void {
  if (isPriceZero(pricing)) return;
  const floor = `the lowest price is ${formatUsdc(floorMicro)} USDC; 0 makes every page free`;
  if (microOf(pricing, 'read') < floorMicro) refuse('price_usdc', `is too low: ${floor}`);
  if (microOf(pricing, 'citation') < floorMicro) refuse('citation_multiplier', `makes a citation too cheap: ${floor}`);
}

/** Refuses a rule with a price below the floor, of a read or of a citation, as `requireFloor` does the site's. */
export function requireRuleFloor(pricing: Pricing, floorMicro: bigint): void {
  for (const [index, rule] of (pricing.rules ?? []).entries()) {
    if (typeof rule.effect === 'string') continue;
    const asked = (['read', 'citation'] as const).filter((kind) => rule.kind === null || rule.kind === kind);
    if (asked.every((kind) => ruleMicro(rule, kind, rulePrices(pricing)) >= floorMicro)) continue;
    refuseRule(
      `rules.${index}.price`,
      `is too low: the lowest price is ${formatUsdc(floorMicro)} USDC, also of citations by the multiplier`,
    );
  }
}

function rulePrices({ citationMultiplier }: Prices): RulePrices {
  return { citationMultiplier: citationMultiplier ?? DEFAULT_CITATION_MULTIPLIER };
}

/**
 * The price and the multiplier as they are charged: those stored, or what stands for a read that was stored below the floor, and for
 * a citation beside it (rounded to four places). Decimals as text.
 */
export function chargedPrices(pricing: Prices, floorMicro: bigint): Prices {
  const { priceUsdc, citationMultiplier } = pricing;
  const [readMicro, citationMicro] = [chargedMicro(pricing, 'read', floorMicro), chargedMicro(pricing, 'citation', floorMicro)];
  const isAsStored = readMicro === microOf(pricing, 'read') && citationMicro === microOf(pricing, 'citation');
  if (isPriceZero(pricing) || isAsStored) return { priceUsdc, citationMultiplier };
  const tenThousandths = (citationMicro * 10_000n + readMicro / 2n) / readMicro;
  const multiplier = `${tenThousandths / 10_000n}.${String(tenThousandths % 10_000n).padStart(4, '0')}`;
  return { priceUsdc: formatUsdc(readMicro), citationMultiplier: multiplier };
}

/**
 * Compiles a version; `floorMicro` is the lowest price of anything that is not free. A price of 0 is free. `catalogueVersion` as in CreditsSource:
 * the tenant's version where some page that it imported names authors.
 */
export function compilePricing(pricing: Pricing, floorMicro: bigint, catalogueVersion: number | null = null): CompiledPricing {
  const micro = { read: chargedMicro(pricing, 'read', floorMicro), citation: chargedMicro(pricing, 'citation', floorMicro) };
  const isFree = isPriceZero(pricing);
  const freeSlugs = new Set((pricing.creditsFreeSlugs ?? []).map(plainSlug));
  const rules = compileRules(pricing.rules ?? [], rulePrices(pricing), floorMicro);
  const base: Settable = isFree ? FREE : { read: { priceMicro: micro.read }, citation: { priceMicro: micro.citation } };
  const credits = openCredits(pricing, { catalogueVersion, apiUrl: pricing.creditsApiUrl });
  const otherwise = (slug: string): Settable => (freeSlugs.has(slug) ? FREE : base);
  const priceAt = (slug: string, outcome: Exclude<Outcome, 'refused'>, ruleId: string | null) => {
    if (outcome !== 'free') return { ...credits.of(slug, outcome.priceMicro), ruleId };
    const because = ruleId !== null ? 'free_rule' : freeSlugs.has(slug) ? 'free_slug' : 'no_price';
    return { kind: 'free', because, ruleId } as const;
  };
  const decide = (asked: Asked, slug: string): { readonly outcome: Outcome; readonly ruleId: string | null } => {
    const octets = freeSlugs.has(slug) ? exactPattern(asked.path).length : 0;
    const rule = rules.find(asked, { octets, outcome: otherwise(slug) });
    return { outcome: (rule?.outcome ?? otherwise(slug))[asked.kind], ruleId: rule?.rule.id ?? null };
  };
  const resolve = (asked: Asked, slug: string): Price => {
    const { outcome, ruleId } = decide(asked, slug);
    return outcome === 'refused' ? { kind: 'refused', ruleId: ruleId ?? '' } : priceAt(slug, outcome, ruleId);
  };
  const nowhere = { kind: 'free', because: 'out_of_scope', ruleId: null } as const;
  return {
    articlePrefixes: pricing.articlePrefixes?.map(normalisePrefix) ?? null,
    readMicro: micro.read,
    citationMicro: micro.citation,
    readAgainSeconds: (pricing.readAgainHours ?? 0) * 3_600,
    inlineSlugs: credits.slugs,
    freeSlugs: [...freeSlugs],
    isListed: (slug) => freeSlugs.has(slug) || credits.has(slug),
    lookedUpAt: credits.source,
    tellsApart: (path, other) => rules.ordered.some(({ pattern }) => matches(pattern, path) && !matches(pattern, other)),
    ofForm: (asked, article) => {
      const { outcome, ruleId } = decide(asked, asked.slug);
      const rule = ruleId === null ? undefined : rules.ordered.find((one) => one.rule.id === ruleId);
      return typeof outcome !== 'string' || !rule || matches(rule.pattern, article) ? null : outcome;
    },
    namedByRules: rules.named,
    inlineCredits: credits.inline,
    isFree: (slug) => rules.ordered.length === 0 && (isFree || freeSlugs.has(slug)),
    unnamed: credits.ofUnnamed,
    resolve: (asked) => (asked.slug === null ? nowhere : resolve(asked, asked.slug)),
    outcome: (asked) => decide(asked, asked.slug).outcome,
    classes: keptBetween(rules.boundaries, (atMs) => classesOf(rules, base, pricing.articlePrefixes, atMs)),
    nextChangeMs: (atMs) => nextBoundary(rules.boundaries, atMs),
    changesBetween: (afterMs, untilMs) => rules.boundaries.filter((at) => at > afterMs && at <= untilMs).toReversed(),
  };
}

/**
 * Makes what stays the same between two boundaries once, for the stretch that was asked about last: anonymous callers have classes made, a search
 * of the public list up to 200 times, and patterns are compared with each other there.
 */
function keptBetween<T>(boundaries: readonly number[], make: (atMs: number) => T): (atMs: number) => T {
  let kept: { readonly untilMs: number | null; readonly made: T } | null = null;
  return (atMs) => {
    const untilMs = nextBoundary(boundaries, atMs);
    if (kept?.untilMs !== untilMs || kept === null) kept = { untilMs, made: make(atMs) };
    return kept.made;
  };
}

/** What a site can set as its price: it refuses nobody. */
type Settable = Readonly<Record<CrossingKind, Exclude<Outcome, 'refused'>>>;
const FREE: Settable = { read: 'free', citation: 'free' };

/** Who is paid for a page that has a price; credits are flattened at the first question. */
function openCredits(pricing: Pricing, source: CreditsSource) {
  const inline = new Map(Object.entries(pricing.creditsInline ?? {}).map(([slug, entry]) => [plainSlug(slug), entry] as const));
  const flattened = new Map<string, PageCredits>();
  let defaultCredits: PageCredits | null | undefined;
  const creditsOf = (slug: string): PageCredits => {
    const credits = flattened.get(slug) ?? flattenCredits(inline.get(slug), `credits_inline.${slug}`);
    flattened.set(slug, credits);
    return credits;
  };
  const isLookedUp = source.apiUrl !== null || source.catalogueVersion !== null;
  const ofUnnamed = (): PageCredits | 'looked_up' | null => {
    defaultCredits ??= defaultCreditsOf(pricing);
    return defaultCredits ?? (isLookedUp ? 'looked_up' : null);
  };
  return {
    slugs: [...inline.keys()],
    has: (slug: string) => inline.has(slug),
    source: isLookedUp ? source : null,
    inline: (slug: string) => (inline.has(slug) ? creditsOf(slug) : null),
    ofUnnamed,
    of: (slug: string, micro: bigint) => {
      if (inline.has(slug)) return { kind: 'priced', micro, credits: creditsOf(slug) } as const;
      defaultCredits ??= defaultCreditsOf(pricing);
      if (isLookedUp) return { kind: 'looked_up', micro, source, otherwise: defaultCredits } as const;
      if (defaultCredits) return { kind: 'priced', micro, credits: defaultCredits } as const;
      return { kind: 'free', because: 'no_credits' } as const;
    },
  };
}

/** The credits of pages that name nobody; null: they are free. Throws as `flattenCredits`. */
function defaultCreditsOf({ defaultPayee }: Pricing, rule: PayeeRule | null = null): PageCredits | null {
  return defaultPayee ? flattenCredits({ contributors: [defaultPayee] }, 'default_payee', rule) : null;
}

function isPriceZero({ priceUsdc }: Prices): boolean {
  return parseDecimal(priceUsdc)?.digits === 0n;
}

function chargedMicro(pricing: Prices, kind: CrossingKind, floorMicro: bigint): bigint {
  const micro = microOf(pricing, kind);
  return micro < floorMicro ? floorMicro : micro;
}

function microOf(pricing: Prices, kind: CrossingKind): bigint {
  return priceToMicro(pricing.priceUsdc, kind === 'read' ? '1' : (pricing.citationMultiplier ?? DEFAULT_CITATION_MULTIPLIER));
}

function isSlug(slug: string): boolean {
  return slug !== '' && slug.length <= MAX_SLUG_CHARS && slug.isWellFormed() && !hasControlCharacter(slug);
}
