/** What a scope of pages costs and who gets it: every covered page is paid like a page sale, authors merged by wallet. */

import { ServiceError } from '../../kernel/errors.ts';
import type { WeightedAuthor } from '../../kernel/money/credits.ts';
import type { Address, Leg, WeightedPayee } from '../../kernel/money/legs.ts';
import { MAX_LEGS } from '../../kernel/money/legs.ts';
import { MAX_JSON_MICRO } from '../../kernel/money/money.ts';
import { coverSteps } from '../../kernel/pages/cover.ts';
import type { CompiledPattern } from '../../kernel/pages/scope.ts';
import type { Outcome } from './compiled.ts';
import { legsOf } from './quote.ts';

/** Most pages of one licence. */
export const MAX_PAGES = 5_000;

const remembered = new WeakMap<readonly WeightedAuthor[], { readonly pageMicro: bigint; readonly legs: readonly Leg[] }>();

/** A page a site sells. */
export interface CataloguePage {
  /** Canonical path (modules/kernel/pages/scope.ts). */
  readonly path: string;
  readonly slug: string;
  /** Null: nobody can be paid for it. */
  readonly authors: readonly WeightedAuthor[] | null;
}

/** The pages a site sells, as scopes look at them. */
export interface Catalogue {
  /** Ascending by path, by code unit; each path once. */
  readonly pages: readonly CataloguePage[];
  /** Their paths. */
  readonly paths: readonly string[];
}

/** A page with its part of the price. */
export interface PricedPage {
  readonly path: string;
  readonly slug: string;
  readonly micro: bigint;
}

/** A scope priced. */
export interface PricedScope {
  readonly priceMicro: bigint;
  readonly pages: readonly PricedPage[];
  /** One per wallet, most first, then by address: the order of the contract (modules/kernel/money/legs.ts). Σ amountMicro = priceMicro. */
  readonly legs: readonly Leg[];
}

/**
 * Prices the pages that the patterns cover, each by `priceOf`; those that are free are not among them. Stops at each `yield` after a millisecond's
 * work at most. Throws not_found (404) when they cover none, and conflict (409) when they cannot be sold as a scope: more than 5,000 pages, a page
 * nobody can be paid for or that is refused, more than 50 wallets, too much to compare.
 */
export function* priceScopeSteps(
  { pages, paths }: Catalogue,
  patterns: readonly CompiledPattern[],
  priceOf: (page: CataloguePage) => Outcome,
): Generator<void, PricedScope> {
  const { places, count } = yield* coverSteps(paths, patterns, MAX_PAGES);
  if (count === 0) throw new ServiceError('not_found', 'the scope covers no page that is sold on this site');
  if (count > MAX_PAGES) {
    throw new ServiceError('conflict', `the scope covers ${count} pages; a licence covers at most ${MAX_PAGES}`);
  }
  const byWallet = new Map<Address, Leg>();
  const covered: PricedPage[] = [];
  let paid = 0;
  let priceMicro = 0n;
  for (const place of places) {
    const page = pages[place] as CataloguePage;
    const { authors, path, slug } = page;
    const outcome = priceOf(page);
    if (outcome === 'refused') throw new ServiceError('conflict', `the owner of this site does not sell ${path} for these terms`);
    if (outcome === 'free') {
      yield;
      continue;
    }
    const { priceMicro: pageMicro } = outcome;
    priceMicro += pageMicro;
    if (priceMicro > MAX_JSON_MICRO) throw new ServiceError('conflict', 'the scope costs more than one payment can carry');
    if (authors === null)
      throw new ServiceError('conflict', `no author of ${path} can be paid, so no scope that contains it can be sold`);
    for (const leg of pageLegs(pageMicro, authors)) {
      const known = byWallet.get(leg.toAddress);
      if (leg.amountMicro > 0n && (known?.amountMicro ?? 0n) === 0n) paid++;
      byWallet.set(leg.toAddress, mergeLeg(known, leg));
    }
    if (paid > MAX_LEGS) {
      throw new ServiceError('conflict', `the scope has more than ${MAX_LEGS} authors to pay; one payment cannot pay more`);
    }
    covered.push({ path, slug, micro: pageMicro });
    yield;
  }
  if (covered.length === 0) throw new ServiceError('not_found', 'every page that the scope covers is free');
  const legs = [...byWallet.values()].filter(({ amountMicro }) => amountMicro > 0n).sort(byAmount);
  return { priceMicro, pages: covered, legs };
}

/** What a page of the catalogue weighs in memory: one, and one more for every two authors and every 512 characters of its own. */
export function pageWeight({ path, slug }: CataloguePage, ownAuthors: number): number {
  return 1 + Math.ceil(ownAuthors / 2) + Math.floor((path.length + slug.length) / 512);
}

/** The payees behind legs: their amounts are the weights, so that the contract pays out exactly these amounts. */
export function payeesOfLegs(legs: readonly Leg[]): readonly WeightedPayee[] {
  return legs.map(({ toAddress, amountMicro }) => ({ wallet: toAddress, weight: amountMicro }));
}

/** The legs of a page, remembered for the price asked last: most quotes of a site ask for the same. */
function pageLegs(pageMicro: bigint, authors: readonly WeightedAuthor[]): readonly Leg[] {
  const known = remembered.get(authors);
  if (known?.pageMicro === pageMicro) return known.legs;
  const legs = legsOf(pageMicro, authors);
  remembered.set(authors, { pageMicro, legs });
  return legs;
}

function mergeLeg(known: Leg | undefined, leg: Leg): Leg {
  if (!known) return leg;
  const { toAddress } = leg;
  const role = known.role === 'author' || leg.role === 'author' ? 'author' : leg.role;
  const merged = { toAddress, amountMicro: known.amountMicro + leg.amountMicro, role } as const;
  return known.authorId !== undefined && known.authorId === leg.authorId ? { ...merged, authorId: leg.authorId } : merged;
}

function byAmount(a: Leg, b: Leg): number {
  if (a.amountMicro === b.amountMicro) return a.toAddress < b.toAddress ? -1 : 1;
  return a.amountMicro > b.amountMicro ? -1 : 1;
}
