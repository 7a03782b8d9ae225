import { findPricing } from '../../db/tenants/tenants.ts';
import { ServiceError } from '../../domain/errors.ts';
import { inOrder } from '../../domain/rules/order.ts';
import type { PriceRule } from '../../domain/rules/rule.ts';
import type { ReadingDeps } from '../lists/deps.ts';
import { atDatabase } from '../outage.ts';

/** A site's price rules as they are stored, in the order in which they are looked at; at most 200. Throws not_found, database_unavailable. */
export async function listPriceRules({ reading }: Pick<ReadingDeps, 'reading'>, tenantId: string): Promise<readonly PriceRule[]> {
  const pricing = await atDatabase(() => findPricing(reading, tenantId));
  if (pricing === null) throw new ServiceError('not_found', 'there is no such site');
  return inOrder(pricing.rules ?? []).map(({ rule }) => rule);
}
