import { ask } from '../../core/data.ts';
import { mutation } from '../../core/mutate.ts';
import { Problem } from '../../core/problem.ts';
import type { PagePrice, Payee, PriceEffect } from './effect.ts';

const PRICE = 'state readMicro citationMicro freeBecause';

/** The pages that the site names. */
export const PAGES_DOCUMENT = `query pages($tenantId: ID, $filter: PricedPageFilter, $after: String) {
  tenant(tenantId: $tenantId) {
    pricedPages(filter: $filter, after: $after, first: 25) {
      totalCount pageInfo { hasNextPage endCursor }
      nodes { path slug title importedSlug credits price { ${PRICE} } payees { authorId wallet micro } }
    }
    freeSlugs articlePrefixes defaultHost
  }
}`;

/** What prices are made of. */
export const PRICES_DOCUMENT = `query prices($tenantId: ID) {
  tenant(tenantId: $tenantId) { version priceUsdc citationMultiplier articlePrefixes freeSlugs defaultPayee { authorId wallet } creditsApiUrl }
}`;

/** What another price would have brought in the last 28 days. */
export const WHAT_IF_DOCUMENT = `query whatIf($tenantId: ID, $priceUsdc: String!, $citationMultiplier: String) {
  tenant(tenantId: $tenantId) {
    whatIf(priceUsdc: $priceUsdc, citationMultiplier: $citationMultiplier, window: { lastDays: 28 }) { totals { paid earnedMicro ifPaidMicro unanswered ifDeniedMicro } }
  }
}`;

/** The prices of before. */
export const PRICE_HISTORY_DOCUMENT = `query priceHistory($tenantId: ID, $after: String) {
  tenant(tenantId: $tenantId) {
    priceHistory(after: $after, first: 10) {
      totalCount pageInfo { hasNextPage endCursor }
      nodes { version at actorId actorVia from { priceUsdc citationMultiplier } to { priceUsdc citationMultiplier } }
    }
  }
}`;

/** What a change of prices would do. */
export const PRICE_EFFECT_DOCUMENT = `query priceEffect($tenantId: ID, $change: PriceEffectInput!) {
  tenant(tenantId: $tenantId) { priceEffect(change: $change) {
    version pages isWhole formerMs
    steps { pages paths before { ${PRICE} } after { ${PRICE} } }
    pageBefore { payees { authorId wallet micro } }
    pageAfter { price { ${PRICE} } payees { authorId wallet micro } }
  } }
}`;

export const SET_PRICES_DOCUMENT = mutation('setPrices', 'version');
export const SET_PREFIXES_DOCUMENT = mutation('setArticlePrefixes', 'version');
export const SET_FREE_DOCUMENT = mutation('setFreeSlugs', 'version');
export const SET_PAGE_CREDITS_DOCUMENT = mutation('setPageCredits', 'version');
export const REMOVE_PAGE_CREDITS_DOCUMENT = mutation('removePageCredits', 'version');
export const SET_CREDITS_DOCUMENT = mutation('setCredits', 'version');
export const IMPORT_PAGES_DOCUMENT = mutation('importPages', 'imported');
export const REMOVE_PAGES_DOCUMENT = mutation('removePages', 'removed');

/** A page that the site names. */
export interface PricedPage {
  readonly path: string;
  readonly slug: string | null;
  readonly title: string | null;
  readonly importedSlug: string | null;
  readonly credits: string | null;
  readonly price: PagePrice;
  readonly payees: readonly Payee[];
}

/** What prices of a site are made of. */
export interface Prices {
  readonly version: number;
  readonly priceUsdc: string;
  readonly citationMultiplier: string | null;
  readonly articlePrefixes: readonly string[] | null;
  readonly freeSlugs: readonly string[] | null;
  readonly defaultPayee: { readonly authorId: string; readonly wallet: string } | null;
  readonly creditsApiUrl: string | null;
}

/** Asks what a change would do. Throws the refusal that the change itself would meet. */
export async function lookAt(change: Readonly<Record<string, unknown>>): Promise<PriceEffect> {
  const { tenant } = await ask<{ tenant: { priceEffect: PriceEffect } | null }>(PRICE_EFFECT_DOCUMENT, { change });
  if (tenant === null) throw new Problem('not_found', 'There is no such site any more.');
  return tenant.priceEffect;
}

/** What paid and unanswered requests of the last 28 days come to at another price. */
export interface WhatIf {
  readonly paid: number;
  readonly earnedMicro: string;
  readonly ifPaidMicro: string;
  readonly unanswered: number;
  readonly ifDeniedMicro: string;
}

/** Asks what another price would have brought; null where that cannot be told now. */
export async function whatIf(priceUsdc: string, citationMultiplier: string): Promise<WhatIf | null> {
  const answer = await ask<{ tenant: { whatIf: { totals: WhatIf } | null } | null }>(WHAT_IF_DOCUMENT, {
    priceUsdc,
    citationMultiplier,
  }).catch(() => null);
  return answer?.tenant?.whatIf?.totals ?? null;
}

/** The prices as they are now. */
export async function pricesNow(): Promise<Prices> {
  const { tenant } = await ask<{ tenant: Prices | null }>(PRICES_DOCUMENT);
  if (tenant === null) throw new Problem('not_found', 'There is no such site any more.');
  return tenant;
}
