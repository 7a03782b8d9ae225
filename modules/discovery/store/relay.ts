import type { Sql } from '../../../db/database.ts';

/** Whether a site lets the text of its pages be handed on; only one that is in the public list can. */
export async function findRelay(sql: Sql, tenantId: string): Promise<boolean> {
  const [row] = await sql.query<{ relays: boolean }>('select relays from discovery_listing where tenant_id = $1', [tenantId]);
  return row?.relays ?? false;
}
