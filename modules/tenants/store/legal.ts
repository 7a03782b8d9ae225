import type { Sql } from '../../../db/database.ts';
import { run, tables } from '../../../db/statement.ts';
import { changeTenant } from './tenants.ts';

/** Who publishes a site before the law; each null where the owner never said. */
export interface LegalDetails {
  readonly legalName: string | null;
  readonly legalAddress: string | null;
}

/** Null when there is no such site. */
export async function findLegalDetails(sql: Sql, tenantId: string): Promise<LegalDetails | null> {
  const tenant = tables.selectFrom('tenant').select(['legalName', 'legalAddress']).where('tenantId', '=', tenantId);
  return (await run(sql, tenant))[0] ?? null;
}

/** Writes both; the version of the site moves. */
export async function writeLegalDetails(sql: Sql, tenantId: string, details: LegalDetails): Promise<void> {
  await changeTenant(sql, tenantId, details, null);
}
