import type { Sql } from '../../../db/database.ts';
import { run, tables } from '../../../db/statement.ts';

/** Whether a site lets the text of its pages be handed on; only one that is in the public list can. */
export async function findRelay(sql: Sql, tenantId: string): Promise<boolean> {
  const [row] = await run(sql, tables.selectFrom('discovery_listing').select('relays').where('tenantId', '=', tenantId));
  return row?.relays ?? false;
}
