import type { Sql } from '../../../db/database.ts';
import { run, tables } from '../../../db/statement.ts';
import { changeTenant } from '../../tenants/store/tenants.ts';

/** Whether records of a site's payments are shown to anyone who has their ids; null when there is no such site. */
export async function findReceiptsPublic(sql: Sql, tenantId: string): Promise<boolean | null> {
  const tenant = tables.selectFrom('tenant').select('receiptsPublic').where('tenantId', '=', tenantId);
  return (await run(sql, tenant))[0]?.receiptsPublic ?? null;
}

/** Writes it; the version of the site moves. Nobody keeps it in memory: the next reading knows. */
export async function writeReceiptsPublic(sql: Sql, tenantId: string, isPublic: boolean): Promise<void> {
  await changeTenant(sql, tenantId, { receiptsPublic: isPublic }, null);
}
