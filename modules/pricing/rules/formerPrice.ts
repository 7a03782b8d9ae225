/**
 * Which price a payment was made for. A buyer signs for the offer he saw; the quote that is sent with his payment may be a later or an earlier one
 * of the same page.
 */

import type { Terms } from '../../kernel/terms.ts';
import { PRICING_GRACE_MS } from './pricing.ts';

/** What of some terms decides whether a payment was made for them. */
export type Sold = Pick<Terms, 'resourceKey' | 'kind' | 'priceMicro' | 'payTo'>;

/** What the buyer signed. */
export interface Signed {
  readonly to: string;
  readonly value: bigint;
}

/** Until when something was in force: epoch milliseconds; null: it is still. */
export interface InForce {
  readonly validUntilMs: number | null;
}

/** True while something is in force and for ten minutes after: a buyer who saw it last may still pay for it (safety 17). */
export function isHonoured({ validUntilMs }: InForce, nowMs: number): boolean {
  return validUntilMs === null || nowMs - validUntilMs <= PRICING_GRACE_MS;
}

/**
 * The terms that a payment was made for: those quoted when it meets them, else the first version of that page and kind, honoured now, whose
 * price and recipient are the signed ones, to the micro; null when there is none. `versions` is asked only when the payment does not meet
 * the quote, newest first. So nothing is sold for a price that its owner did not ask within ten minutes, a citation never for the price
 * of a read, and no page for that of another.
 */
export function findTermsPaid<T extends Sold>(
  quoted: T,
  versions: () => Iterable<InForce & { readonly terms: T }>,
  signed: Signed,
  nowMs: number,
): T | null {
  if (isMadeFor(signed, quoted)) return quoted;
  for (const version of versions()) {
    const { terms } = version;
    const isOfPage = terms.resourceKey === quoted.resourceKey && terms.kind === quoted.kind;
    if (isOfPage && isHonoured(version, nowMs) && isMadeFor(signed, terms)) return terms;
  }
  return null;
}

function isMadeFor({ to, value }: Signed, { payTo, priceMicro }: Sold): boolean {
  return payTo === to && priceMicro === value;
}
