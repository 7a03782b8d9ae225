import { legBody } from '../../../../platform/chain/offer.ts';
import { payToOf } from '../../../../platform/chain/router/split.ts';
import { ServiceError } from '../../../kernel/errors.ts';
import { includesTraining, pagePriceMicro } from '../../../kernel/licence/period.ts';
import type { Address } from '../../../kernel/money/legs.ts';
import { microToJson } from '../../../kernel/money/money.ts';
import type { Destination } from '../../../kernel/terms.ts';
import type { CataloguePage, PricedScope } from '../../../pricing/rules/catalogue.ts';
import { payeesOfLegs, priceScopeSteps } from '../../../pricing/rules/catalogue.ts';
import type { Outcome } from '../../../pricing/rules/compiled.ts';
import { NOBODY } from '../../../pricing/rules/compiled.ts';
import { presentPricing } from '../../../quotes/use/issue.ts';
import { reachable, siteNetworks } from '../../../tenants/use/networks.ts';
import type { BuyerDeps } from './deps.ts';
import type { UnderstoodRequest } from './request.ts';

/** A scope priced, and where its payment goes on the cheapest network. */
export interface ScopeQuote extends PricedScope, Destination {
  /** Null where one wallet gets all. */
  readonly legWords: readonly `0x${string}`[] | null;
}

/** The wire form of a licence quote. */
export interface LicenceQuoteBody {
  readonly priceMicro: number;
  readonly patterns: readonly string[];
  readonly terms: readonly string[];
  readonly period: { readonly from: number; readonly until: number };
  readonly resourceCount: number;
  readonly legs: readonly { readonly toAddress: string; readonly amountMicro: number }[];
}

/**
 * Prices what is asked at this moment, when the turn of `caller` (an account, or an address) comes. Throws conflict (409) with the
 * reason when the site cannot be sold as this scope, not_found (404) when the scope covers nothing, and overloaded (503).
 */
export async function quoteScope(deps: BuyerDeps, request: UnderstoodRequest, caller: string): Promise<ScopeQuote> {
  const { tenant } = request;
  if (tenant.status !== 'active') throw new ServiceError('conflict', `this site is ${tenant.status} and sells no licences`);
  return deps.scopes.inTurn({ caller, tenantId: tenant.tenantId }, () => priceNow(deps, request));
}

async function priceNow(deps: BuyerDeps, request: UnderstoodRequest): Promise<ScopeQuote> {
  const { tenant, kind, periodDays } = request;
  const offering = await deps.scopes.catalogues.of(deps.database, tenant);
  if (includesTraining(request.terms) && !offering.sellsTraining) {
    throw new ServiceError('conflict', 'this site sells no licence for training (terms ai-train, all)');
  }
  if (offering.pages.length === 0)
    throw new ServiceError('conflict', 'this site has no catalogue of priced pages, so it cannot sell a scope');
  const pricing = presentPricing(tenant);
  const asked = { ...NOBODY, terms: request.terms, kind, atMs: deps.clock() };
  const priceOf = ({ path, slug }: CataloguePage): Outcome => {
    const unit = pricing.outcome({ ...asked, path, slug });
    if (typeof unit === 'string') return unit;
    return { priceMicro: pagePriceMicro(unit.priceMicro, periodDays, offering.periodFactors) };
  };
  const priced = await deps.scopes.run(priceScopeSteps(offering, request.compiled, priceOf));
  const networks = siteNetworks(deps, tenant);
  const destinations = networks.map((network) => {
    const { payTo, words } = recipientOf(priced, network.router);
    return { network: network.id, asset: network.asset, router: network.router, payTo, words };
  });
  const [first] = reachable(
    deps,
    destinations.filter((destination) => !deps.snapshots.isBlocked(destination)),
  );
  if (!first) throw new ServiceError('conflict', 'an author of these pages cannot be paid right now');
  const { words, ...destination } = first;
  return { ...priced, ...destination, legWords: words.length > 1 ? words : null };
}

function recipientOf(priced: PricedScope, router: Address) {
  try {
    return payToOf(payeesOfLegs(priced.legs), router);
  } catch {
    throw new ServiceError('conflict', 'one payment cannot pay the authors of these pages');
  }
}

/** A quote as the API shows it; times in epoch milliseconds, addresses with their checksum. */
export function quoteBody(quote: {
  readonly priceMicro: bigint;
  readonly patterns: readonly string[];
  readonly terms: readonly string[];
  readonly period: { readonly fromMs: number; readonly untilMs: number };
  readonly resourceCount: number;
  readonly legs: readonly { readonly toAddress: Address; readonly amountMicro: bigint }[];
}): LicenceQuoteBody {
  return {
    priceMicro: microToJson(quote.priceMicro),
    patterns: quote.patterns,
    terms: quote.terms,
    period: { from: quote.period.fromMs, until: quote.period.untilMs },
    resourceCount: quote.resourceCount,
    legs: quote.legs.map(legBody),
  };
}
