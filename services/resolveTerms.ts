import { checksumAddress } from '../chain/offer.ts';
import { payToOf } from '../chain/split.ts';
import { ServiceError } from '../domain/errors.ts';
import type { ResourceUrl } from '../domain/host.ts';
import { parseResource, resourceKeyOf } from '../domain/host.ts';
import type { ParsedPayment } from '../domain/payload.ts';
import { PRICING_GRACE_MS } from '../domain/pricing.ts';
import type { IssuedQuote } from '../domain/quote.ts';
import { buildQuoteBase, buildTerms, findDifference } from '../domain/quote.ts';
import { requireOwned, requireResource, slugOf } from '../domain/resource.ts';
import type { CrossingKind, Terms } from '../domain/terms.ts';
import { CreditsNeeded } from './credits/book.ts';
import type { PublisherDeps } from './publisher.ts';
import { prepareQuote } from './quotes.ts';
import { readQuoteToken } from './quoteToken.ts';
import type { TenantSnapshot } from './snapshots.ts';

/** A quote as a publisher sends it back: the object of GET quote, or a bare price. */
export interface SentQuote extends Readonly<Record<string, unknown>> {
  readonly price: number;
  readonly kind?: CrossingKind;
  readonly host?: string;
  readonly resource?: string;
  readonly quoteToken?: string;
}

/** What `resolveTerms` decides from. */
export interface TermsRequest {
  readonly tenant: TenantSnapshot;
  readonly quote: SentQuote;
  readonly resource?: string;
  readonly payment: Pick<ParsedPayment, 'authorization'>;
}

/**
 * The page a verify call is about, as far as it says so, and whose it is: throws invalid_resource, invalid_parameter (400) and
 * resource_not_owned (403), which come before anything about the payment.
 */
export function requireOwnedPage(request: Pick<TermsRequest, 'tenant' | 'quote' | 'resource'>): ResourceUrl {
  const { tenant, quote } = request;
  const named = request.resource ?? quote.resource;
  if (named === undefined)
    throw new ServiceError('invalid_parameter', 'a bare price needs a resource', { parameter: 'resource' });
  const resource = requireResource(named);
  requireOwned(tenant.hosts, resource.host);
  if (quote.resource !== undefined) requireOwned(tenant.hosts, requireResource(quote.resource).host);
  if (quote.host !== undefined) requireOwned(tenant.hosts, quote.host);
  return resource;
}

/**
 * The terms a payment must meet: those of the quote's token while it lives, else those of a price version of the resource in
 * force within the last 10 minutes (safety 17). Nothing is taken from the wire but what is proven to be ours. Throws
 * quote_expired and authorization_invalid (402), besides what `requireOwnedPage` throws.
 */
export function resolveTerms(
  deps: Pick<PublisherDeps, 'network' | 'quoteTokenSecrets' | 'clock' | 'credits'>,
  request: TermsRequest,
): Terms {
  const resource = requireOwnedPage(request);
  return request.quote.quoteToken === undefined
    ? termsInForce(deps, request, resource)
    : termsOfToken(deps, request, resource, request.quote.quoteToken);
}

function termsOfToken(
  deps: Pick<PublisherDeps, 'quoteTokenSecrets' | 'clock'>,
  { tenant, quote }: TermsRequest,
  resource: ResourceUrl,
  token: string,
): Terms {
  const issued = readQuoteToken(deps.quoteTokenSecrets, token);
  if (!issued || issued.tenantId !== tenant.tenantId) throw refused('the quoteToken is not one of ours for this site');
  requireOwned(tenant.hosts, issued.host);
  const difference = differenceOf(issued, quote);
  if (difference !== null) throw refused(`the quote's ${difference} is not the one we quoted`);
  const terms = termsOfIssued(issued);
  if (terms.resourceKey !== resourceKeyOf(resource)) throw refused('the quote is for another resource');
  if (deps.clock() >= issued.expiresAtMs) throw new ServiceError('quote_expired', 'the quote has expired; ask for a new one');
  return terms;
}

function differenceOf(issued: IssuedQuote, quote: SentQuote): string | null {
  if (quote['quoteId'] !== undefined && quote['quoteId'] !== issued.quoteId) return 'quoteId';
  if (quote['expiresAt'] !== undefined && quote['expiresAt'] !== issued.expiresAtMs) return 'expiresAt';
  const base = buildQuoteBase(termsOfIssued(issued), { name: '', version: '' }, checksumAddress);
  return findDifference(quote, base);
}

function termsOfIssued(issued: IssuedQuote): Terms {
  const { words } = payToOf(issued.authors, issued.router);
  return buildTerms(issued, words.length > 1 ? words : null);
}

/** Terms without a token: among the versions of the last 10 minutes, the one the payment was made for. */
function termsInForce(
  deps: Pick<PublisherDeps, 'network' | 'clock' | 'credits'>,
  { tenant, quote, payment }: TermsRequest,
  resource: ResourceUrl,
): Terms {
  const isFull = quote['quoteId'] !== undefined || quote['legs'] !== undefined;
  const quoted = quote.resource === undefined ? null : parseResource(quote.resource);
  if (quoted && resourceKeyOf(quoted) !== resourceKeyOf(resource)) throw refused('the quote is for another resource');
  const { to, value } = payment.authorization;
  let byPrice: Terms | null = null;
  for (const candidate of candidates(deps, tenant, resource, quote.kind ?? 'read')) {
    if (candidate.priceMicro !== BigInt(quote.price)) continue;
    if (candidate.payTo === to && candidate.priceMicro === value) return candidate;
    byPrice ??= candidate;
  }
  if (byPrice) return byPrice;
  if (isFull) throw new ServiceError('quote_expired', 'this price is no longer in force; ask for a new quote');
  throw refused('no price of this resource in force within the last 10 minutes equals this one');
}

function candidates(
  deps: Pick<PublisherDeps, 'network' | 'clock' | 'credits'>,
  tenant: TenantSnapshot,
  resource: ResourceUrl,
  kind: CrossingKind,
): Terms[] {
  const oldestMs = deps.clock() - PRICING_GRACE_MS;
  const found: Terms[] = [];
  if (tenant.status === 'pending') return found;
  let outage: unknown = null;
  for (const { version, pricing, validUntilMs } of tenant.pricings) {
    if (validUntilMs !== null && validUntilMs < oldestMs) continue;
    const slug = slugOf(pricing.articlePrefixes, resource.path);
    if (slug === null) continue;
    for (const find of [deps.credits.find, deps.credits.findPrevious]) {
      try {
        const ready = prepareQuote(deps, tenant.tenantId, pricing, resource, slug, kind, find);
        if (ready) found.push({ ...ready.terms, quoteId: `v${version}` });
      } catch (error) {
        if (find === deps.credits.findPrevious) break;
        if (error instanceof CreditsNeeded) throw error; // the caller loads them and asks again
        outage = error;
      }
    }
  }
  if (found.length === 0 && outage !== null) throw outage;
  return found;
}

function refused(sentence: string): ServiceError {
  return new ServiceError('authorization_invalid', sentence);
}
