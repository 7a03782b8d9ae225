/**
 * A site's pricing as it is stored: its prices, its price rules and its credits, one row a version. One version is in force at any time; those
 * before it stay, because a payment is judged by what was quoted.
 */
import { sql as text } from 'kysely';
import type { Sql } from '../../../db/database.ts';
import { json, run, tables } from '../../../db/statement.ts';
import type { Pricing } from '../rules/pricing.ts';

const inForce = (tenantId: string) =>
  tables.selectFrom('tenant_pricing').where('tenantId', '=', tenantId).where('validUntil', 'is', null);

/** The pricing in force, as stored; null when there is no such site. */
export async function findPricing(sql: Sql, tenantId: string): Promise<Pricing | null> {
  const [row] = await run(sql, inForce(tenantId).select('pricing'));
  return row?.pricing ?? null;
}

/** Stores a version of a site's pricing, in force from `validFrom`. */
export async function insertPricing(
  sql: Sql,
  version: { readonly tenantId: string; readonly version: number; readonly pricing: Pricing; readonly validFrom: Date },
): Promise<void> {
  await run(sql, tables.insertInto('tenant_pricing').values({ ...version, pricing: json(version.pricing) }));
}

/**
 * Ends the pricing in force and stores what `change` makes of it as `version`, both at the same moment (safety 17); returns that. The caller
 * holds the lock on the tenant's row. Throws what `change` throws; nothing is written then.
 */
export async function insertNextPricing(
  sql: Sql,
  { tenantId, version, at }: { readonly tenantId: string; readonly version: number; readonly at: Date },
  change: (current: Pricing) => Pricing,
): Promise<Pricing> {
  const [current] = await run(sql, inForce(tenantId).select(['pricing', 'validFrom']));
  if (current === undefined) throw new Error('a site without a pricing in force');
  const pricing = change(current.pricing);
  // Two edits within one clock tick, or a clock that went back, must not leave a version with a negative life.
  const validFrom = at > current.validFrom ? at : current.validFrom;
  await run(
    sql,
    tables
      .updateTable('tenant_pricing')
      .set({ validUntil: validFrom })
      .where('tenantId', '=', tenantId)
      .where('validUntil', 'is', null),
  );
  await insertPricing(sql, { tenantId, version, pricing, validFrom });
  return pricing;
}

/** The pricing in force of each row of `tenant` in the statement around it; null where there is none. */
export const PRICING_IN_FORCE = text<Pricing | null>`(select p.pricing from tenant_pricing as p
  where p.tenant_id = tenant.tenant_id and p.valid_until is null)`;

/** A version of a pricing as JSON tells it: its times are text. */
export interface PricingVersion {
  readonly version: number;
  readonly pricing: Pricing;
  readonly validFrom: string;
  readonly validUntil: string | null;
}

/** The versions in force at `since` or later, newest first, of each row of `tenant` in the statement around it. */
export function pricingsSince(since: Date) {
  return text<readonly PricingVersion[]>`(select coalesce(jsonb_agg(jsonb_build_object('version', p.version, 'pricing', p.pricing,
      'validFrom', p.valid_from, 'validUntil', p.valid_until) order by p.version desc), '[]')
    from tenant_pricing as p where p.tenant_id = tenant.tenant_id and (p.valid_until is null or p.valid_until >= ${since}))`;
}

/** Prices of every version as a table, each beside those of the version before it (`old_…`, null for the first). */
export const PRICE_VERSIONS = `(select v.tenant_id, v.version, v.valid_from, v.price, v.times, lag(v.price) over earlier as old_price,
    lag(v.times) over earlier as old_times
  from (select tenant_id, version, valid_from, pricing ->> 'priceUsdc' as price, pricing ->> 'citationMultiplier' as times
    from tenant_pricing) v window earlier as (partition by v.tenant_id order by v.version))`;
