import { randomUUID } from 'node:crypto';
import type { Network } from '../../../../platform/chain/network.ts';
import { splitOf } from '../../../../platform/chain/router/split.ts';
import { declareAtService } from '../../../identity/use/accounts/declare.ts';
import type { TenantSnapshot } from '../../../identity/use/tenantSnapshots.ts';
import { ServiceError } from '../../../kernel/errors.ts';
import { formatUsdc, microToJson } from '../../../kernel/money/money.ts';
import { linksOf } from '../../../kernel/pages/documents.ts';
import type { Destination, Terms } from '../../../kernel/terms.ts';
import type { OfferTerms, OpenOffer } from '../../../licences/store/offers.ts';
import { dropOffers, findStandingOffer, keepOffer } from '../../../licences/store/offers.ts';
import { MAX_TIMEOUT_SECONDS } from '../../../pricing/rules/quote.ts';
import type { Offer } from '../../../quotes/use/offers/build.ts';
import { buildOffer } from '../../../quotes/use/offers/build.ts';
import { reachable, siteNetworks } from '../../../tenants/use/networks.ts';
import type { BuyerDeps } from './deps.ts';
import { digestOfPages } from './freeze.ts';
import type { LicenceQuoteBody } from './quote.ts';
import { quoteBody, quoteScope } from './quote.ts';
import type { UnderstoodRequest } from './request.ts';

/** How long an offer stands for its account and request. */
export const OFFER_LIFE_MS = 600_000;
/** Open offers of one account, and of all about one site: accounts cost nothing. */
const CAPS = { ofAccount: 100, ofTenant: 2_000 };
/** After its end an offer may still be paid by who signed for it before. */
const KEPT_MS = MAX_TIMEOUT_SECONDS * 1000 + 60_000;
const DROPPED_AT_ONCE = 20;
/** What stock clients refuse to pay unless told otherwise: `x402-fetch` 1, `@x402/fetch` 2. */
const V1_CLIENT_CAP_MICRO = 100_000n;
const V2_CLIENT_CAP_MICRO = 1_000_000n;

/**
 * The offer that stands for this request of the account, as it was first made; of its pages a digest is kept
 * (freeze.ts). Throws what quoting throws, and throttled (429) at 100 open offers of the account.
 */
export async function openOffer(deps: BuyerDeps, accountId: string, request: UnderstoodRequest): Promise<OpenOffer> {
  const { requestHash } = request;
  const at = new Date(deps.clock());
  const standing = await findStandingOffer(deps.database, { accountId, requestHash }, at);
  if (standing) return standing;
  const quote = await quoteScope(deps, request, accountId);
  const offer: OpenOffer = {
    offerId: randomUUID(),
    tenantId: request.tenant.tenantId,
    accountId,
    requestHash,
    host: request.host,
    patterns: request.patterns,
    terms: request.terms,
    kind: request.kind,
    periodFrom: new Date(request.period.fromMs),
    periodUntil: new Date(request.period.untilMs),
    priceMicro: quote.priceMicro,
    pageCount: quote.pages.length,
    pagesDigest: digestOfPages(quote.pages),
    legs: quote.legs,
    legWords: quote.legWords,
    payTo: quote.payTo,
    network: quote.network,
    asset: quote.asset,
    router: quote.router,
    holder: request.holder,
    expiresAt: new Date(at.getTime() + OFFER_LIFE_MS),
  };
  await dropOffers(deps.database, new Date(at.getTime() - KEPT_MS), DROPPED_AT_ONCE);
  const kept = await keepOffer(deps.database, offer, at, CAPS);
  if (!kept) {
    throw new ServiceError('throttled', `an account can have at most ${CAPS.ofAccount} open offers`, { retryAfterSeconds: 60 });
  }
  return kept;
}

/** Where an offer is paid on a network; on the one it was made for as it was made. Pages, legs and price are the same on all. */
export function destinationOf(offer: OfferTerms, { id, asset, router }: Pick<Network, 'id' | 'asset' | 'router'>): Destination {
  if (id === offer.network) return { network: id, asset: offer.asset, router: offer.router, payTo: offer.payTo };
  return { network: id, asset, router, payTo: offer.legWords === null ? offer.payTo : splitOf(offer.legWords, router) };
}

/** The terms a payment for an offer must meet when it goes there. */
export function termsOfOffer(offer: OfferTerms, destination: Destination): Terms {
  const { tenantId, host, kind, priceMicro, legs, legWords, offerId } = offer;
  const payees = legs.map(({ toAddress, amountMicro, authorId }) => ({
    authorId: authorId ?? toAddress,
    wallet: toAddress,
    share: Number(amountMicro) / Number(priceMicro),
  }));
  return {
    tenantId,
    host,
    kind,
    priceMicro,
    payees,
    legs,
    legWords,
    ...destination,
    slug: 'licence',
    resource: `https://${host}/`,
    resourceKey: `licence:${offer.accountId}:${offer.requestHash}`,
    quoteId: offerId,
  };
}

/** What an offer sells, as the API shows it. */
export function licenceOfOffer(offer: OfferTerms): LicenceQuoteBody {
  const period = { fromMs: offer.periodFrom.getTime(), untilMs: offer.periodUntil.getTime() };
  return quoteBody({ ...offer, period, resourceCount: offer.pageCount });
}

/**
 * The 402 of an offer for both generations of clients, for the networks of its site where its authors can be paid now; `error` says what came
 * before, if anything did.
 */
export function buildLicenceOffer(deps: BuyerDeps, tenant: TenantSnapshot, offer: OfferTerms, error: string | null): Offer {
  const { baseUrl } = deps;
  const all = siteNetworks(deps, tenant).map((network) => ({
    ...destinationOf(offer, network),
    v1Name: network.v1Name,
    extra: { name: network.assetName, version: network.assetVersion },
  }));
  const payable = all.filter((destination) => !deps.snapshots.isBlocked(destination));
  const destinations = reachable(deps, payable.length === 0 ? all : payable);
  const title = `Licence for ${offer.pageCount} pages of ${offer.host}`;
  const quote = {
    price: microToJson(offer.priceMicro),
    title,
    slug: 'licence',
    maxTimeoutSeconds: MAX_TIMEOUT_SECONDS,
    resource: `${baseUrl}/_svc/licenses`,
  };
  const made = buildOffer(
    { quote, terms: offer, destinations },
    {
      error: error ?? `payment_required: ${askingSentence(offer.priceMicro)}`,
      mimeType: 'application/json',
      legsUrl: `${baseUrl}/_svc/licenses/offers/${offer.offerId}/legs`,
      extensions: { 'sign-in-with-x': declareAtService(deps) },
      headers: { link: linksOf(baseUrl, offer.host) },
    },
  );
  return { ...made, body: { ...made.body, licence: licenceOfOffer(offer) } };
}

/** What the price is, and whose limits it is above. */
function askingSentence(priceMicro: bigint): string {
  const price = `the licence costs ${formatUsdc(priceMicro)} USDC`;
  if (priceMicro > V2_CLIENT_CAP_MICRO) {
    return `${price}; that is over the default limit of stock clients (1 USD of @x402/fetch, 0.10 USD of x402-fetch): raise yours to buy`;
  }
  if (priceMicro > V1_CLIENT_CAP_MICRO) {
    return `${price}; that is over the default limit of x402-fetch (0.10 USD): raise yours to buy with it`;
  }
  return price;
}
