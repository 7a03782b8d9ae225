import { workedOut } from '../../../../db/shown.ts';
import type { Span } from '../../../kernel/time/window.ts';
import type { Source } from '../../../paging/store/source.ts';
import { isWithin } from '../../../paging/store/source.ts';
import type { Prices } from '../../../pricing/rules/pricing.ts';
import { PRICE_VERSIONS } from '../../../pricing/store/pricing.ts';

/** A price that a site set. */
export interface PriceChangeRow {
  /** Version of the pricing that it came with. */
  readonly version: number;
  readonly at: Date;
  /** What it was; null: it is the site's first. */
  readonly from: Prices | null;
  readonly to: Prices;
  /** Who set it, and by what; null where the audit log has nothing of it. */
  readonly actorId: string | null;
  readonly actorVia: string | null;
}

/** Which prices: those set in a span of time. */
export interface PriceChangeFilter {
  readonly window?: Span;
}

/**
 * A version does not say who made it. Its entry in the audit log was written in the same transaction by the same clock or one that is near
 * to it, and says what came to be another: the nearest within a minute that does.
 */
const ENTRY = `lateral (select g.actor_id, g.actor_via from audit_log g
  where g.tenant_id = h.tenant_id and g.at >= h.valid_from - interval '1 minute' and g.at <= h.valid_from + interval '1 minute'
    and jsonb_typeof(g.after) = 'object' and (g.after ? 'priceUsdc' or g.after ? 'citationMultiplier')
    and (h.price is not distinct from h.old_price or g.after ->> 'priceUsdc' = h.price)
    and (h.times is not distinct from h.old_times
      or g.after ? 'citationMultiplier' and g.after ->> 'citationMultiplier' is not distinct from h.times)
    and coalesce(g.after ->> 'priceUsdc', h.price) = h.price
    and (not g.after ? 'citationMultiplier' or g.after ->> 'citationMultiplier' is not distinct from h.times)
  order by abs(extract(epoch from g.at - h.valid_from)), g.entry_id limit 1)`;

/** `Prices`, by the columns of its two. */
const pricesOf = (price: string, times: string): string =>
  `json_build_object('priceUsdc', ${price}, 'citationMultiplier', ${times})`;

/** Prices of a site as they were set, the first one included. */
export const PRICE_CHANGES: Source<PriceChangeRow, PriceChangeFilter> = {
  columns: workedOut(
    `h.version, h.valid_from as at, who.actor_id as "actorId", who.actor_via as "actorVia",
     case when h.old_price is not null then ${pricesOf('h.old_price', 'h.old_times')} end as "from", ${pricesOf('h.price', 'h.times')} as "to"`,
  ),
  from: `${PRICE_VERSIONS} h left join ${ENTRY} who on true`,
  tenant: 'h.tenant_id',
  id: { column: "lpad(h.version::text, 10, '0')", type: 'text' },
  orderings: {
    NEWEST: { column: 'h.valid_from', type: 'timestamptz', direction: 'desc' },
    OLDEST: { column: 'h.valid_from', type: 'timestamptz', direction: 'asc' },
  },
  keys: {},
  where: (binder, { window }) => [
    '(h.price, h.times) is distinct from (h.old_price, h.old_times)',
    ...isWithin(binder, 'h.valid_from', window),
  ],
};
