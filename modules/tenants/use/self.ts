import type { Database } from '../../../db/database.ts';
import { ServiceError } from '../../kernel/errors.ts';
import { chargedPrices } from '../../pricing/rules/pricing.ts';
import type { TenantSelf } from '../store/self.ts';
import { findTenantSelf } from '../store/self.ts';

/**
 * A site as its owner configured it, from Postgres; prices as they are charged, which one that was stored below the floor is not. Throws
 * not_found, database_unavailable.
 */
export async function describeTenant(
  { database, priceFloorMicro }: { readonly database: Database; readonly priceFloorMicro: bigint },
  tenantId: string,
): Promise<TenantSelf> {
  const tenant = await findTenantSelf(database, tenantId);
  if (!tenant) throw new ServiceError('not_found', 'there is no such site');
  return { ...tenant, ...chargedPrices(tenant, priceFloorMicro) };
}
