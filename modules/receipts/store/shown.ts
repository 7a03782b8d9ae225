import type { Sql } from '../../../db/database.ts';
import { moveTenantVersion } from '../../tenants/store/tenants.ts';

/** Whether records of a site's payments are shown to whoever has their ids; null when there is no such site. */
export async function findReceiptsPublic(sql: Sql, tenantId: string): Promise<boolean | null> {
  const [row] = await sql.query<{ receipts_public: boolean }>('select receipts_public from tenant where tenant_id = $1', [
    tenantId,
  ]);
  return row?.receipts_public ?? null;
}

/** Writes it; the version of the site moves. Nobody keeps it in memory: the next reading knows. */
export async function writeReceiptsPublic(sql: Sql, tenantId: string, isPublic: boolean): Promise<void> {
  await sql.query('update tenant set receipts_public = $2 where tenant_id = $1', [tenantId, isPublic]);
  await moveTenantVersion(sql, tenantId);
}
