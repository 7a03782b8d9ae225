/** Deliveries that wait for their first attempt. */
import type { Sql } from '../../db/database.ts';

/** Events with one delivery each, as if as many windows had just been closed; `more` changes columns of the deliveries. */
export async function insertWaiting(
  sql: Sql,
  tenantId: string,
  endpointId: string,
  count: number,
  more: { readonly retrying?: boolean; readonly attempts?: number; readonly body?: string } = {},
): Promise<string[]> {
  const { retrying = false, attempts = 0, body = null } = more;
  const rows = await sql.query<{ delivery_id: string }>(
    `with event as (
       insert into webhook_event (tenant_id, event_id, type, detailed, summary)
       select $1, 'evt_' || gen_random_uuid(), 'settlement.completed', '{}', '{}' from generate_series(1, $3) returning event_id
     ) insert into delivery (tenant_id, delivery_id, event_id, endpoint_id, bucket, retrying, attempts, body)
       select $1, 'dlv_' || gen_random_uuid(), event_id, $2, $4, $5, $6, $7 from event returning delivery_id`,
    [tenantId, endpointId, count, Number.parseInt(endpointId.slice(-2), 16), retrying, attempts, body],
  );
  return rows.map(({ delivery_id: id }) => id);
}
