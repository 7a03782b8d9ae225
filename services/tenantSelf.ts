import type { Database } from '../db/database.ts';
import type { TenantSelf } from '../db/tenantSelf.ts';
import { findTenantSelf } from '../db/tenantSelf.ts';
import { ServiceError } from '../domain/errors.ts';
import { atDatabase } from './outage.ts';

/** A site as its owner configured it, from Postgres. Throws not_found, database_unavailable. */
export async function describeTenant(deps: { readonly database: Database }, tenantId: string): Promise<TenantSelf> {
  const tenant = await atDatabase(() => findTenantSelf(deps.database, tenantId));
  if (!tenant) throw new ServiceError('not_found', 'there is no such site');
  return tenant;
}
