import { LRUCache } from 'lru-cache';
import { checksumAddress } from '../../../platform/chain/offer.ts';
import { payToOf } from '../../../platform/chain/router/split.ts';
import type { PricingVersion, TenantSnapshot } from '../../identity/use/tenantSnapshots.ts';
import { ServiceError } from '../../kernel/errors.ts';
import type { ResourceUrl } from '../../kernel/hosts/host.ts';
import { parseResource, resourceKeyOf } from '../../kernel/hosts/host.ts';
import { sameLegs } from '../../kernel/money/legs.ts';
import { isFormOf } from '../../kernel/pages/forms.ts';
import { requireOwned, requireResource, slugOf } from '../../kernel/pages/resource.ts';
import type { CrossingKind, Destination, Terms } from '../../kernel/terms.ts';
import type { ParsedPayment } from '../../kernel/x402/payload.ts';
import type { Asker } from '../../pricing/rules/compiled.ts';
import { NOBODY } from '../../pricing/rules/compiled.ts';
import type { InForce } from '../../pricing/rules/formerPrice.ts';
import { findTermsPaid, isHonoured } from '../../pricing/rules/formerPrice.ts';
import { PRICING_GRACE_MS } from '../../pricing/rules/pricing.ts';
import type { IssuedQuote, QuoteBase } from '../../pricing/rules/quote.ts';
import { buildQuoteBase, buildTerms, findDifference } from '../../pricing/rules/quote.ts';
import { siteNetworks, takesNetwork } from '../../tenants/use/networks.ts';
import { CreditsNeeded } from './credits/book.ts';
import type { PublisherDeps } from './deps.ts';
import type { AskedPage, QuotedPage } from './issue.ts';
import { agentRefused, locateArticle, prepareQuote } from './issue.ts';
import { readQuoteToken } from './token.ts';

/** A quote as a publisher sends it back: the object of GET quote, or a bare price. */
export interface SentQuote extends Readonly<Record<string, unknown>> {
  readonly price: number;
  readonly kind?: CrossingKind;
  readonly host?: string;
  readonly resource?: string;
  readonly quoteToken?: string;
}

type TermsDeps = Pick<PublisherDeps, 'networks' | 'quoteTokenSecrets' | 'clock' | 'credits'>;

/** What `resolveTerms` decides from. */
export interface TermsRequest {
  readonly tenant: TenantSnapshot;
  readonly quote: SentQuote;
  readonly resource?: string;
  /** The legs that were sent with the quote. */
  readonly legs: readonly { readonly toAddress: string; readonly amountMicro: bigint }[];
  readonly payment: Pick<ParsedPayment, 'authorization' | 'x402Version' | 'network'>;
  /** Where a payment that we hold already was taken, which no later change of the site's networks touches. */
  readonly taken?: Destination;
}

/**
 * The page a verify call is about, as far as it says so, and whose it is: throws invalid_resource, invalid_parameter (400) and
 * resource_not_owned (403), which come before anything about the payment.
 */
export function requireOwnedPage(request: Pick<TermsRequest, 'tenant' | 'quote' | 'resource'>): ResourceUrl {
  const { tenant, quote } = request;
  const named = request.resource ?? quote.resource;
  if (named === undefined)
    throw new ServiceError('invalid_parameter', 'a price without a quote needs a resource', { parameter: 'resource' });
  const resource = requireResource(named);
  requireOwned(tenant.hosts, resource.host);
  if (quote.resource !== undefined) requireOwned(tenant.hosts, requireResource(quote.resource).host);
  if (quote.host !== undefined) requireOwned(tenant.hosts, quote.host);
  return resource;
}

/** The terms of the quote that was sent, and those that the payment was made for: null when it was made for none that stands. */
export interface MetTerms {
  readonly quoted: Terms;
  readonly paid: Terms | null;
}

/**
 * What was quoted, and what the payment was made for: the quote itself, else a version of the page's price in force within the last 10 minutes
 * (safety 17; the rule is `findTermsPaid`). Throws what `quotedTerms` throws, and credits_unavailable (503) where a former price may
 * be meant and its authors are not known.
 */
export function resolveTerms(deps: TermsDeps, request: TermsRequest): MetTerms {
  const resource = requireOwnedPage(request);
  const quoted = quotedTerms(deps, request);
  const sold = { resource, kind: quoted.kind, asker: askerOf(deps, request.quote) };
  const versions = (): Iterable<SoldVersion> => offeredOn(deps, request, versionsOf(deps, request.tenant, sold).found);
  return { quoted, paid: findTermsPaid(quoted, versions, request.payment.authorization, deps.clock()) };
}

/**
 * The terms of the quote that was sent: those of its token while it lives, else those of a price version of the resource in
 * force within the last 10 minutes. Nothing is taken from the wire but what is proven to be ours. They are those of the
 * network that the payment names, if that was offered and the site takes it still: its owner may have stopped because an author cannot
 * use money there, and a buyer who is refused has paid nothing. A payment of a network that is not configured meets the terms of the first,
 * and fails by them. Throws quote_expired, authorization_invalid and network_unsupported (402), besides what `requireOwnedPage` throws.
 */
export function quotedTerms(deps: TermsDeps, request: TermsRequest): Terms {
  const resource = requireOwnedPage(request);
  return request.quote.quoteToken === undefined
    ? termsOfPrice(deps, request, resource)
    : termsOfToken(deps, request, resource, request.quote.quoteToken);
}

function termsOfToken(deps: TermsDeps, request: TermsRequest, resource: ResourceUrl, token: string): Terms {
  const { tenant, quote } = request;
  const read = readToken(deps.quoteTokenSecrets, token);
  if (!read || read.issued.tenantId !== tenant.tenantId) throw refused('the quoteToken was not issued for this site');
  const { issued, terms } = read;
  requireOwned(tenant.hosts, issued.host);
  const difference = differenceOf(read, quote);
  if (difference !== null) throw refused(`the quote's ${difference} differs from what we quoted`);
  const sold = parseResource(terms.resource);
  if (!sold || !isOfPage(tenant, resource, sold)) throw refused('the quote is for another resource');
  if (deps.clock() >= issued.expiresAtMs) throw new ServiceError('quote_expired', 'the quote has expired; ask for a new one');
  return { ...terms, ...(request.taken ?? destinationOf(deps, request, [terms, ...issued.others])) };
}

/** Of the destinations offered, the one on the network that the payment names. Throws network_unsupported. */
function destinationOf(
  deps: Pick<TermsDeps, 'networks'>,
  request: Pick<TermsRequest, 'tenant' | 'payment'>,
  offered: readonly Destination[],
): Destination {
  const found = findDestination(deps, request, offered);
  if (found) return found;
  throw new ServiceError('network_unsupported', 'payments on this network are not accepted for this page');
}

function findDestination(
  { networks }: Pick<TermsDeps, 'networks'>,
  { tenant, payment }: Pick<TermsRequest, 'tenant' | 'payment'>,
  offered: readonly Destination[],
): Destination | null {
  const named = networks.findForPayment(payment);
  const found = named === null ? offered[0] : offered.find(({ network }) => network === named.id);
  if (!found || (named !== null && !takesNetwork({ networks }, tenant, named.id))) return null;
  const { network, asset, router, payTo } = found;
  return { network, asset, router, payTo };
}

/** What a token of ours says, which nothing can change: that it has run out is judged each time. */
interface ReadToken {
  readonly issued: IssuedQuote;
  readonly terms: Terms;
  readonly base: QuoteBase;
}

/** Characters of tokens in memory for one list of secrets; what is made of a token takes about four times as much. */
const TOKEN_CHARS = 4_000_000;
const tokensRead = new WeakMap<readonly string[], LRUCache<string, ReadToken>>();

/**
 * What a token says, from memory where it was read before: buyers of one page pay by the same quote for minutes. Only what one of these
 * secrets signed is remembered, so that nobody else's text takes room. Null when none of them did.
 */
function readToken(secrets: readonly string[], token: string): ReadToken | null {
  const known =
    tokensRead.get(secrets) ?? new LRUCache<string, ReadToken>({ maxSize: TOKEN_CHARS, sizeCalculation: (_, key) => key.length });
  tokensRead.set(secrets, known);
  const found = known.get(token);
  if (found) return found;
  const issued = readQuoteToken(secrets, token);
  if (!issued) return null;
  const terms = termsOfIssued(issued);
  const base = buildQuoteBase(terms, { extra: { name: '', version: '' } }, checksumAddress);
  const read = { issued, terms, base };
  known.set(token, read);
  return read;
}

/** Who was asked the price that was sent: what our token says; without one nobody that is known, whatever the payment's sender claims. */
export function askerOf({ quoteTokenSecrets }: Pick<TermsDeps, 'quoteTokenSecrets'>, { quoteToken }: SentQuote): Asker {
  return (quoteToken === undefined ? null : readToken(quoteTokenSecrets, quoteToken))?.issued.asker ?? NOBODY;
}

function differenceOf({ issued, base }: ReadToken, quote: SentQuote): string | null {
  if (quote['quoteId'] !== undefined && quote['quoteId'] !== issued.quoteId) return 'quoteId';
  if (quote['expiresAt'] !== undefined && quote['expiresAt'] !== issued.expiresAtMs) return 'expiresAt';
  return findDifference(quote, base);
}

function termsOfIssued(issued: IssuedQuote): Terms {
  const { words } = payToOf(issued.authors, issued.router);
  return buildTerms(issued, words.length > 1 ? words : null);
}

/** Terms without a token: of the versions of the last 10 minutes with this price, the one whose legs were sent. */
function termsOfPrice(deps: TermsDeps, request: TermsRequest, resource: ResourceUrl): Terms {
  const { tenant, quote, legs } = request;
  const isFull = quote['quoteId'] !== undefined || quote['legs'] !== undefined;
  const quoted = quote.resource === undefined ? null : parseResource(quote.resource);
  if (quoted && !isOfPage(tenant, resource, quoted)) throw refused('the quote is for another resource');
  let byPrice: Terms | null = null;
  const { found, isRefused } = versionsOf(deps, tenant, { resource, kind: quote.kind ?? 'read', asker: NOBODY });
  for (const { terms, destinations } of found) {
    const candidate = { ...terms, ...(request.taken ?? destinationOf(deps, request, destinations)) };
    if (candidate.priceMicro !== BigInt(quote.price)) continue;
    if (sameLegs(legs, candidate.legs)) return candidate;
    byPrice ??= candidate;
  }
  if (byPrice) return byPrice;
  if (isRefused) throw agentRefused();
  if (isFull) throw new ServiceError('quote_expired', 'this price is no longer in force; ask for a new quote');
  throw refused('no price of this resource in force within the last 10 minutes equals this one');
}

/** A price of a page with its terms on one network. */
type SoldVersion = InForce & { readonly terms: Terms };
/** A price of a page, wherever it may be paid. */
type OfferedVersion = InForce & Pick<QuotedPage, 'terms' | 'destinations'>;

/** The versions on the network that the payment names, without those that were not offered there. */
function offeredOn(deps: TermsDeps, request: TermsRequest, versions: readonly OfferedVersion[]): readonly SoldVersion[] {
  return versions.flatMap(({ validUntilMs, terms, destinations }) => {
    const found = findDestination(deps, request, destinations);
    return found ? [{ validUntilMs, terms: { ...terms, ...found } }] : [];
  });
}

/** What is sold to whom. */
type SoldPage = Pick<AskedPage, 'resource' | 'kind' | 'asker'>;

/**
 * What a page cost an asker within the last 10 minutes, newest first: under each version, and under each before and after the moments at which
 * one of its rules began or ended. Prepared in memory, each once a price. `isRefused`: he does not get it now.
 */
function versionsOf(
  deps: TermsDeps,
  tenant: TenantSnapshot,
  page: SoldPage,
): { readonly found: OfferedVersion[]; readonly isRefused: boolean } {
  const nowMs = deps.clock();
  const found: OfferedVersion[] = [];
  let isRefused = false;
  if (tenant.status === 'pending') return { found, isRefused };
  const site = { tenantId: tenant.tenantId, networks: siteNetworks(deps, tenant) };
  let outage: unknown = null;
  for (const { version, pricing, validUntilMs, atMs } of momentsOf(tenant, nowMs)) {
    const slug = slugOf(pricing.articlePrefixes, page.resource.path);
    if (slug === null) continue;
    for (const find of [deps.credits.find, deps.credits.findPrevious]) {
      try {
        const article = locateArticle(deps, tenant, { pricing, resource: page.resource, slug }, find);
        const { found: ready } = prepareQuote(deps, site, { ...page, pricing, atMs, ...article }, find);
        if (ready === 'refused' && validUntilMs === null) isRefused = true;
        if (typeof ready === 'string') continue;
        found.push({ validUntilMs, terms: { ...ready.terms, quoteId: `v${version}` }, destinations: ready.destinations });
      } catch (error) {
        if (find === deps.credits.findPrevious) break;
        if (error instanceof CreditsNeeded) throw error; // the caller loads them and asks again
        outage = error;
      }
    }
  }
  if (found.length === 0 && outage !== null) throw outage;
  return { found, isRefused };
}

/** The versions that are honoured, newest first, each at its last moment and at the last ones before its rules changed what it asks. */
function* momentsOf({ pricings }: TenantSnapshot, nowMs: number): Generator<PricingVersion & { readonly atMs: number }> {
  for (const one of pricings) {
    if (!isHonoured(one, nowMs)) continue;
    const lastMs = one.validUntilMs === null ? nowMs : Math.min(nowMs, one.validUntilMs - 1);
    yield { ...one, atMs: lastMs };
    const sinceMs = Math.max(one.validFromMs, nowMs - PRICING_GRACE_MS - 1);
    for (const changedMs of one.pricing.changesBetween(sinceMs, lastMs)) {
      yield { ...one, validUntilMs: changedMs, atMs: changedMs - 1 };
    }
  }
}

/** True when an address is that of the page that a quote is for, or a form of it. */
function isOfPage({ forms }: Pick<TenantSnapshot, 'forms'>, resource: ResourceUrl, sold: ResourceUrl): boolean {
  if (resourceKeyOf(resource) === resourceKeyOf(sold)) return true;
  return resource.host === sold.host && isFormOf(resource.path, sold.path, forms);
}

function refused(sentence: string): ServiceError {
  return new ServiceError('authorization_invalid', sentence);
}
