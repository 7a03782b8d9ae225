import { randomUUID } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Network } from '../../../platform/chain/network.ts';
import { checksumAddress } from '../../../platform/chain/offer.ts';
import { payToOf } from '../../../platform/chain/router/split.ts';
import type { TenantSnapshot } from '../../identity/use/tenantSnapshots.ts';
import { ServiceError } from '../../kernel/errors.ts';
import type { ResourceUrl } from '../../kernel/hosts/host.ts';
import { TERMS } from '../../kernel/licence/period.ts';
import type { PageCredits } from '../../kernel/money/credits.ts';
import { articlesOf, resourceOfArticle } from '../../kernel/pages/forms.ts';
import { locatePage } from '../../kernel/pages/resource.ts';
import { canonicalPath } from '../../kernel/pages/scope.ts';
import type { CrossingKind, Destination, Terms } from '../../kernel/terms.ts';
import { MOST_PAGE_URL_CHARS } from '../../kernel/x402/fitOffer.ts';
import type { Asker } from '../../pricing/rules/compiled.ts';
import { NOBODY } from '../../pricing/rules/compiled.ts';
import { spelledTerms } from '../../pricing/rules/order.ts';
import type { CompiledPricing, FreeBecause } from '../../pricing/rules/pricing.ts';
import type { Quote, QuoteBase, TokenDomain } from '../../pricing/rules/quote.ts';
import { buildQuoteBase, buildTerms, QUOTE_LIFE_MS, tokenBase } from '../../pricing/rules/quote.ts';
import { reachable, siteNetworks } from '../../tenants/use/networks.ts';
import type { CreditsBook, KnownCredits } from './credits/book.ts';
import { CreditsNeeded } from './credits/book.ts';
import type { PublisherDeps } from './deps.ts';
import { signQuoteToken } from './token.ts';

/** What quoting needs. */
export type QuoteDeps = Pick<PublisherDeps, 'networks' | 'isAway' | 'quoteTokenSecrets' | 'clock' | 'snapshots' | 'credits'>;

/** A quote, the terms behind it, and where they may be paid. */
export interface QuotedPage {
  readonly quote: Quote;
  readonly terms: Terms;
  readonly destinations: readonly NetworkDestination[];
}

/** Where a price may be paid, with what a buyer signs for there. */
export interface NetworkDestination extends Destination {
  readonly v1Name: string | null;
  readonly extra: TokenDomain;
}

/** Everything of a page's quote that stays while its price does. */
export interface PreparedQuote {
  readonly page: PricedPage;
  /** One a network that the site takes, the cheapest first; `terms` and `base` are those of the first. */
  readonly destinations: readonly NetworkDestination[];
  readonly terms: Omit<Terms, 'quoteId'>;
  readonly base: QuoteBase;
  /** `base` as JSON, without its closing brace. */
  readonly baseText: string;
  readonly tokenBase: string;
}

/** A page with its price and who gets it. */
interface PricedPage {
  readonly tenantId: string;
  readonly resource: ResourceUrl;
  readonly slug: string;
  readonly kind: CrossingKind;
  readonly micro: bigint;
  readonly credits: PageCredits;
  readonly asker: Asker;
}

/** Whose page is quoted, and on which networks. */
export interface QuotedSite {
  readonly tenantId: string;
  readonly networks: readonly Network[];
}

/** What is asked of a page. */
export interface PageRequest {
  readonly tenant: TenantSnapshot;
  readonly resource?: string;
  readonly slug?: string;
  readonly kind: CrossingKind;
  /** Nobody that is known unless told. */
  readonly asker?: Asker;
}

/** Why a page has no price. */
export type Unpriced = FreeBecause | 'refused';

/** A page that is priced, by one version of its site's prices. */
export interface AskedPage {
  readonly pricing: CompiledPricing;
  readonly resource: ResourceUrl;
  readonly slug: string;
  readonly kind: CrossingKind;
  readonly asker: Asker;
  readonly atMs: number;
}

/** A page that was found in a tenant's copy. */
export interface FoundPage {
  readonly host: string;
  /** What a quote of it is made of, or why there is none. */
  readonly found: PreparedQuote | Unpriced;
  /** True when nothing but the tenant's copy was asked, so that the page stays as found as long as that copy is in use. */
  readonly isLasting: boolean;
  /** When a rule begins or ends next, so that the page may be found another; null: never. */
  readonly untilMs: number | null;
}

/** The members of a quote that change every time. */
interface IssuedPart {
  readonly quoteId: string;
  readonly issuedAt: number;
  readonly expiresAt: number;
  readonly quoteToken: string;
}

const PREPARED_PAGES = 5_000;
const PREPARED_SPELLINGS = 20;
const prepared = new WeakMap<CompiledPricing, LRUCache<string, PreparedQuote>>();
/** Quotes of credits that were looked up live as long as these credits do in memory. */
const preparedOfCredits = new WeakMap<PageCredits, LRUCache<string, PreparedQuote>>();
/** The same quotes without the networks that cannot be offered for the moment, by those that can: a few combinations. */
const narrowed = new WeakMap<PreparedQuote, Map<string, PreparedQuote>>();

/**
 * The page a request is about and what it takes to quote it, from the tenant's copy in memory alone. Throws invalid_parameter,
 * invalid_resource (400), resource_not_owned (403), credits_unavailable (503); a page whose authors are looked up is looked for inside
 * `withCredits`.
 */
export function findPage(deps: Pick<QuoteDeps, 'networks' | 'credits' | 'clock'>, request: PageRequest): FoundPage {
  const { tenant, kind } = request;
  const pricing = presentPricing(tenant);
  const { hosts, forms } = tenant;
  const { resource, slug } = locatePage({ hosts, forms, articlePrefixes: pricing.articlePrefixes }, request);
  const { host } = resource;
  if (slug === null || tenant.status === 'pending') return { host, found: 'out_of_scope', isLasting: true, untilMs: null };
  const site = { tenantId: tenant.tenantId, networks: siteNetworks(deps, tenant) };
  const asker = namedBy(tenant, request.asker ?? NOBODY);
  const atMs = deps.clock();
  const article = locateArticle(deps, tenant, { pricing, resource, slug });
  const untilMs = pricing.nextChangeMs(atMs);
  const said = article.slug === slug ? null : sayingOf(pricing, { ...asker, resource, slug, kind, atMs }, article.resource);
  if (said !== null) return { host, found: said, isLasting: article.isLasting, untilMs };
  const { found, isLasting } = prepareQuote(deps, site, { pricing, kind, asker, atMs, ...article });
  return { host, found, isLasting: isLasting && article.isLasting, untilMs };
}

/** What the owner says of one form of an article in particular, by a rule: free, or refused; null: it costs what the article does. */
function sayingOf(
  pricing: CompiledPricing,
  { resource, ...asked }: Asker & Omit<AskedPage, 'pricing' | 'asker'>,
  article: ResourceUrl,
): 'free_rule' | 'refused' | null {
  const said = pricing.ofForm({ ...asked, path: canonicalPath(resource.path) }, canonicalPath(article.path));
  return said === 'free' ? 'free_rule' : said;
}

/** An address of a site, with the slug that its path has. */
export interface Addressed {
  readonly resource: ResourceUrl;
  readonly slug: string;
}

/**
 * The page at an address: the address itself, or the article that it is a form of (`articlesOf`). What the site names is never taken for a form: a slug
 * with authors, or a free one. Of the articles the first that the site names counts; where it names none of them, the surest, but none beyond an address
 * that a price rule speaks of and not of the next. Throws CreditsNeeded where names are looked up and no answer is in memory, and credits_unavailable.
 * `find` as of `prepareQuote`; `isLasting` as of a found page.
 */
export function locateArticle(
  deps: Pick<QuoteDeps, 'credits'>,
  { tenantId, forms }: Pick<TenantSnapshot, 'tenantId' | 'forms'>,
  { pricing, resource, slug }: Addressed & { readonly pricing: CompiledPricing },
  find: CreditsBook['find'] = deps.credits.find,
): Addressed & Pick<FoundPage, 'isLasting'> {
  const articles = articlesOf(slug, forms);
  const { lookedUpAt } = pricing;
  let isLasting = true;
  const isNamed = (one: Addressed): boolean => {
    if (pricing.isListed(one.slug)) return true;
    if (lookedUpAt === null) return false;
    isLasting = false;
    const key = { tenantId, path: canonicalPath(one.resource.path), slug: one.slug, ...lookedUpAt };
    return requireCredits(find(key), key) !== 'none';
  };
  const asked = { resource, slug };
  if (articles.length === 0 || isNamed(asked)) return { ...asked, isLasting };
  const path = canonicalPath(resource.path);
  const all = articles.map((article) => ({
    resource: resourceOfArticle(resource, slug, article.slug),
    slug: article.slug,
    isSure: article.isSure,
  }));
  const found = all.find(isNamed) ?? surestOf(pricing, path, all);
  return found ? { resource: found.resource, slug: found.slug, isLasting } : { ...asked, isLasting };
}

/** The article furthest from a path that is surely meant, up to the first that a price rule speaks of and not of the next. */
function surestOf<One extends Addressed & { readonly isSure: boolean }>(
  pricing: CompiledPricing,
  asked: string,
  articles: readonly One[],
): One | undefined {
  let surest: One | undefined;
  let path = asked;
  for (const one of articles) {
    if (!one.isSure) continue;
    const next = canonicalPath(one.resource.path);
    if (pricing.tellsApart(path, next)) break;
    [surest, path] = [one, next];
  }
  return surest;
}

/**
 * Of what an asker says that which some price of the site within its ten minutes (safety 17) names: whatever else anybody says makes no
 * quote of its own.
 */
function namedBy({ pricings }: TenantSnapshot, { operator, category, terms }: Asker): Asker {
  const isNamed = (word: string | null): boolean =>
    word !== null && pricings.some(({ pricing }) => pricing.namedByRules.has(word));
  const named = {
    operator: isNamed(operator) ? operator : null,
    category: isNamed(category) ? category : null,
    terms: spelledTerms(terms).some(isNamed) ? TERMS.filter((term) => terms.includes(term)) : [],
  };
  return isNobody(named) ? NOBODY : named;
}

function isNobody({ operator, category, terms }: Asker): boolean {
  return operator === null && category === null && terms.length === 0;
}

/** What a page that is refused is answered with; it may be another answer after so many milliseconds, where that is known. */
export function agentRefused(changesInMs: number | null = null): ServiceError {
  const wait = changesInMs === null ? {} : { retryAfterSeconds: Math.max(1, Math.ceil(changesInMs / 1_000)) };
  return new ServiceError('agent_refused', 'the owner of this site refuses this page to this agent', wait);
}

/** A new quote of a page with its terms. Throws payee_blocked (503). */
export function issueQuote(deps: QuoteDeps, ready: PreparedQuote): QuotedPage {
  const open = offerable(deps, ready);
  const part = issuePart(deps, open);
  const { destinations } = open;
  return { quote: { ...open.base, ...part }, terms: { ...open.terms, quoteId: part.quoteId }, destinations };
}

/** A new quote of a page as the JSON of its body, byte for byte that of `issueQuote`. Throws payee_blocked (503). */
export function issueQuoteText(deps: QuoteDeps, ready: PreparedQuote): string {
  const open = offerable(deps, ready);
  const { quoteId, issuedAt, expiresAt, quoteToken } = issuePart(deps, open);
  const times = `"issuedAt":${issuedAt},"expiresAt":${expiresAt}`;
  return `${open.baseText},"quoteId":"${quoteId}",${times},"quoteToken":"${quoteToken}"}`;
}

/**
 * The quote with the networks that can be offered now: those where every author can be paid, without those known to be away (`reachable`).
 * Throws payee_blocked (503) where there is none.
 */
export function offerable(deps: Pick<QuoteDeps, 'isAway' | 'snapshots'>, ready: PreparedQuote): PreparedQuote {
  const payable = ready.destinations.filter((destination) => !deps.snapshots.isBlocked(destination));
  if (payable.length === 0) {
    throw new ServiceError('payee_blocked', 'an author of this page cannot be paid right now', { retryAfterSeconds: 300 });
  }
  const open = reachable(deps, payable);
  if (open.length === ready.destinations.length) return ready;
  const known = narrowed.get(ready) ?? new Map<string, PreparedQuote>();
  narrowed.set(ready, known);
  const name = open.map(({ network }) => network).join(' ');
  const made = known.get(name) ?? makeQuote(open, ready.page);
  known.set(name, made);
  return made;
}

function issuePart(deps: QuoteDeps, ready: PreparedQuote): IssuedPart {
  const issuedAt = deps.clock();
  const expiresAt = issuedAt + QUOTE_LIFE_MS;
  const quoteId = randomUUID();
  const quoteToken = signQuoteToken(deps.quoteTokenSecrets, ready.tokenBase, quoteId, expiresAt);
  return { quoteId, issuedAt, expiresAt, quoteToken };
}

/**
 * The quote of a page under one pricing version; why it has none when it has none. It is made once a page, kind, price and asker: the price is part
 * of the name it is kept by, so that no memory can mix what two agents or two moments pay. Throws CreditsNeeded when the authors are looked up
 * (CreditsSource) and no answer is in memory, credits_unavailable when there is none, and invalid_resource for a page with a
 * price and a longer URL than may be sold. `find` says which answer counts: the present one unless told. `isLasting` as of a found page.
 */
export function prepareQuote(
  deps: Pick<QuoteDeps, 'credits'>,
  { tenantId, networks }: QuotedSite,
  { pricing, resource, slug, kind, asker, atMs }: AskedPage,
  find: CreditsBook['find'] = deps.credits.find,
): Pick<FoundPage, 'found' | 'isLasting'> {
  const path = canonicalPath(resource.path);
  const price = pricing.resolve({ ...asker, path, slug, kind, atMs });
  if (price.kind === 'refused') return { found: 'refused', isLasting: true };
  if (price.kind === 'free') return { found: price.because, isLasting: true };
  requireSellable(resource);
  const { micro } = price;
  const name = `${micro} ${nameOf(asker)} ${networks.map(({ id }) => id).join(' ')} ${kind} ${resource.url}`;
  const made = (known: LRUCache<string, PreparedQuote>, as: string, credits: PageCredits): PreparedQuote => {
    const page = { tenantId, resource, slug, kind, micro, credits, asker };
    const ready = known.get(as) ?? makeQuote(destinationsOf(credits, networks), page);
    known.set(as, ready);
    return ready;
  };
  const ofVersion = preparedOf(pricing);
  if (price.kind === 'priced') return { found: made(ofVersion, name, price.credits), isLasting: true };
  const key = { tenantId, path, slug, ...price.source };
  const credits = requireCredits(find(key), key);
  if (credits === 'free') return { found: 'free_slug', isLasting: false };
  const { otherwise } = price;
  if (credits === 'none') return { found: otherwise ? made(ofVersion, name, otherwise) : 'no_credits', isLasting: false };
  const ofCredits = preparedOfCredits.get(credits) ?? new LRUCache<string, PreparedQuote>({ max: PREPARED_SPELLINGS });
  preparedOfCredits.set(credits, ofCredits);
  return { found: made(ofCredits, name, credits), isLasting: false };
}

/** The URL stands in the offer, in the receipt and in part in the licence, which all travel in headers: what is longer is never offered or charged. */
function requireSellable({ url }: ResourceUrl): void {
  if (url.length <= MOST_PAGE_URL_CHARS) return;
  const sentence = `a page that is sold has a URL of at most ${MOST_PAGE_URL_CHARS} characters, as encoded: it travels in headers`;
  throw new ServiceError('invalid_resource', sentence, { parameter: 'resource' });
}

function preparedOf(pricing: CompiledPricing): LRUCache<string, PreparedQuote> {
  const known = prepared.get(pricing) ?? new LRUCache<string, PreparedQuote>({ max: PREPARED_PAGES });
  prepared.set(pricing, known);
  return known;
}

function nameOf(asker: Asker): string {
  return asker === NOBODY ? '' : `${asker.operator} ${asker.category} ${asker.terms.join(',')}`;
}

function requireCredits(known: KnownCredits | undefined, key: CreditsNeeded['key']): Exclude<KnownCredits, 'failed'> {
  if (known === undefined) throw new CreditsNeeded(key);
  if (known !== 'failed') return known;
  throw new ServiceError('credits_unavailable', 'the authors of this page are not known right now', { retryAfterSeconds: 30 });
}

/** Where these authors are paid on some networks. */
function destinationsOf({ authors }: PageCredits, networks: readonly Network[]): readonly NetworkDestination[] {
  return networks.map(({ id, asset, router, v1Name, assetName, assetVersion }) => ({
    network: id,
    asset,
    router,
    v1Name,
    payTo: payToOf(authors, router).payTo,
    extra: { name: assetName, version: assetVersion },
  }));
}

function makeQuote(destinations: readonly NetworkDestination[], page: PricedPage): PreparedQuote {
  const [first, ...others] = destinations;
  if (!first) throw new RangeError('a quote is for one network at least');
  const { authors, title } = page.credits;
  const { network, asset, router, payTo, extra } = first;
  const { words } = payToOf(authors, router);
  const facts = {
    tenantId: page.tenantId,
    host: page.resource.host,
    slug: page.slug,
    resource: page.resource.url,
    kind: page.kind,
    priceMicro: page.micro,
    authors,
    network,
    asset,
    router,
    payTo,
    others,
    ...(isNobody(page.asker) ? {} : { asker: page.asker }),
  };
  const terms = buildTerms({ ...facts, quoteId: '' }, words.length > 1 ? words : null);
  const base = buildQuoteBase(terms, { extra, others, ...(title === undefined ? {} : { title }) }, checksumAddress);
  return { page, destinations, terms, base, baseText: JSON.stringify(base).slice(0, -1), tokenBase: tokenBase(facts) };
}

/** The pricing version in force. Throws internal when a tenant has none, which its creation makes impossible. */
export function presentPricing(tenant: TenantSnapshot): CompiledPricing {
  const present = tenant.pricings.find(({ validUntilMs }) => validUntilMs === null);
  if (!present) throw new ServiceError('internal', 'this site has no pricing in force');
  return present.pricing;
}
