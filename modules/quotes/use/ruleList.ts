import { atDatabase } from '../../../db/outage.ts';
import { ServiceError } from '../../kernel/errors.ts';
import type { ReadingDeps } from '../../paging/use/deps.ts';
import { inOrder } from '../../pricing/rules/order.ts';
import type { PriceRule } from '../../pricing/rules/rule.ts';
import { findPricing } from '../../pricing/store/pricing.ts';

/** A site's price rules as they are stored, in the order in which they are looked at; at most 200. Throws not_found, database_unavailable. */
export async function listPriceRules({ reading }: Pick<ReadingDeps, 'reading'>, tenantId: string): Promise<readonly PriceRule[]> {
  const pricing = await atDatabase(() => findPricing(reading, tenantId));
  if (pricing === null) throw new ServiceError('not_found', 'there is no such site');
  return inOrder(pricing.rules ?? []).map(({ rule }) => rule);
}
