import type { Transactional } from '../../../db/database.ts';
import { ServiceError } from '../../kernel/errors.ts';
import type { ReadingDeps } from '../../paging/use/deps.ts';
import { inOrder } from '../../pricing/rules/order.ts';
import type { Pricing } from '../../pricing/rules/pricing.ts';
import type { PriceRule } from '../../pricing/rules/rule.ts';
import { findPricing } from '../../pricing/store/pricing.ts';
import type { SiteCall } from '../../tenants/use/change.ts';
import { changeSite } from '../../tenants/use/change.ts';
import type { PricingLimits } from '../../tenants/use/tenants.ts';
import { setPricing } from '../../tenants/use/tenants.ts';

/** What managing a site's prices needs. */
export interface SitePriceDeps extends PricingLimits {
  readonly database: Transactional;
}

/** The version of the tenant after the change; quotes are made from it from then on. */
export interface PriceChange {
  readonly version: number;
  /** Pages that had inline credits before and have none now. */
  readonly lostCredits: number;
}

/** What is changed of a pricing; members left out stay, null takes one away. */
export type PricingChange = Partial<Pricing>;

/**
 * Changes what a site charges, as a new version (safety 17): quotes made before stay good. Throws invalid_parameter and what
 * `changeSite` throws. The same change again makes another, equal version.
 */
export async function changePricing(
  deps: SitePriceDeps,
  call: SiteCall,
  action: 'price.set' | 'credits.set' | 'prefixes.set' | 'slugs.set_free' | 'rules.set' | 'price.set_read_again',
  pricing: PricingChange,
): Promise<PriceChange> {
  return await changePricingOf(deps, call, { action, target: null }, () => pricing);
}

/**
 * Sets the inline credits of one page, or with null takes them away. Throws invalid_parameter, not_found when there is nothing to
 * take away, and what `changeSite` throws.
 */
export async function setPageCredits(deps: SitePriceDeps, call: SiteCall, slug: string, credits: unknown): Promise<PriceChange> {
  const action = credits === null ? 'credits.remove_page' : 'credits.set_page';
  return await changePricingOf(deps, call, { action, target: slug }, (current) =>
    credits === null ? withoutPageCredits(current, slug) : withPageCredits(current, slug, credits),
  );
}

/** The inline credits of a pricing with those of one page set. */
export function withPageCredits(current: Pricing, slug: string, credits: unknown): PricingChange {
  return { creditsInline: { ...current.creditsInline, [slug]: credits } };
}

/** The inline credits of a pricing without those of one page. Throws not_found when it has none. */
export function withoutPageCredits(current: Pricing, slug: string): PricingChange {
  const pages = new Map(Object.entries(current.creditsInline ?? {}));
  if (!pages.delete(slug)) throw new ServiceError('not_found', 'this page has no inline credits');
  return { creditsInline: pages.size === 0 ? null : Object.fromEntries(pages) };
}

async function changePricingOf(
  deps: SitePriceDeps,
  call: SiteCall,
  { action, target }: { readonly action: string; readonly target: string | null },
  changeOf: (current: Pricing) => PricingChange,
): Promise<PriceChange> {
  const { tenantId } = call;
  return await changeSite(deps, call, {
    action,
    target,
    look: (sql) => findPricing(sql, tenantId),
    make: async (database) => {
      const current = await findPricing(database, tenantId);
      if (current === null) throw new ServiceError('not_found', 'there is no such site');
      const pricing = changeOf(current);
      const { version } = await setPricing({ ...deps, database }, { tenantId, pricing });
      return { version, lostCredits: lostCredits(current, pricing) };
    },
  });
}

function lostCredits({ creditsInline: before }: Pricing, { creditsInline: after }: PricingChange): number {
  if (after === undefined) return 0;
  return Object.keys(before ?? {}).filter((slug) => !Object.hasOwn(after ?? {}, slug)).length;
}

/** A site's price rules as they are stored, in the order in which they are looked at; at most 200. Throws not_found, database_unavailable. */
export async function listPriceRules({ reading }: Pick<ReadingDeps, 'reading'>, tenantId: string): Promise<readonly PriceRule[]> {
  const pricing = await findPricing(reading, tenantId);
  if (pricing === null) throw new ServiceError('not_found', 'there is no such site');
  return inOrder(pricing.rules ?? []).map(({ rule }) => rule);
}
