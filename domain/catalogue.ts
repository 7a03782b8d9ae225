/** What a scope of pages costs and who gets it: every covered page is paid like a page sale, authors merged by wallet (decisions §2). */
import type { WeightedAuthor } from './credits.ts';
import { ServiceError } from './errors.ts';
import type { Address, Leg, WeightedPayee } from './legs.ts';
import { MAX_LEGS } from './legs.ts';
import { MAX_JSON_MICRO } from './money.ts';
import { legsOf } from './quote.ts';
import type { CompiledPattern } from './scope.ts';
import { matches } from './scope.ts';

/** Most pages of one licence. */
export const MAX_PAGES = 5_000;

const remembered = new WeakMap<readonly WeightedAuthor[], { readonly pageMicro: bigint; readonly legs: readonly Leg[] }>();

/** A page a site sells. */
export interface CataloguePage {
  /** Canonical path (domain/scope.ts). */
  readonly path: string;
  readonly slug: string;
  /** Null: nobody can be paid for it. */
  readonly authors: readonly WeightedAuthor[] | null;
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
  /** One per wallet, most first, then by address: the order of the contract (domain/legs.ts). Σ amountMicro = priceMicro. */
  readonly legs: readonly Leg[];
}

/**
 * Prices the pages that the patterns cover, each at `pageMicro`. Throws not_found (404) when they cover none, and conflict (409)
 * when they cannot be sold as a scope: more than 5,000 pages, a page nobody can be paid for, more than 50 wallets.
 */
export function priceScope(
  pages: readonly CataloguePage[],
  patterns: readonly CompiledPattern[],
  pageMicro: bigint,
): PricedScope {
  const covered = pages.filter(({ path }) => patterns.some((pattern) => matches(pattern, path)));
  if (covered.length === 0) throw new ServiceError('not_found', 'the scope covers no page that is sold on this site');
  if (covered.length > MAX_PAGES) {
    throw new ServiceError('conflict', `the scope covers ${covered.length} pages; a licence covers at most ${MAX_PAGES}`);
  }
  const byWallet = new Map<Address, Leg>();
  for (const { authors, path } of covered) {
    if (authors === null)
      throw new ServiceError('conflict', `no author of ${path} can be paid, so that no scope with it is sold`);
    for (const leg of pageLegs(pageMicro, authors)) byWallet.set(leg.toAddress, mergeLeg(byWallet.get(leg.toAddress), leg));
  }
  const legs = [...byWallet.values()].filter(({ amountMicro }) => amountMicro > 0n).sort(byAmount);
  if (legs.length > MAX_LEGS) {
    throw new ServiceError('conflict', `the scope has ${legs.length} authors to pay; one payment pays at most ${MAX_LEGS}`);
  }
  const priceMicro = pageMicro * BigInt(covered.length);
  if (priceMicro > MAX_JSON_MICRO) throw new ServiceError('conflict', 'the scope costs more than one payment can carry');
  return { priceMicro, pages: covered.map(({ path, slug }) => ({ path, slug, micro: pageMicro })), legs };
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
