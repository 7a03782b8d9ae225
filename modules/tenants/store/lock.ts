import type { Sql } from '../../../db/database.ts';
import { run, tables } from '../../../db/statement.ts';

/**
 * Waits until nobody else changes what hangs on the site, and keeps others waiting to the end of the transaction; rows that name the site may
 * still be added. An empty list: there is no such site.
 */
export function lockSite(sql: Sql, tenantId: string): Promise<{ readonly tenantId: string }[]> {
  return run(sql, tables.selectFrom('tenant').select('tenantId').where('tenantId', '=', tenantId).forNoKeyUpdate());
}
