import type { Sql } from '../../../db/database.ts';
import type { EventType } from '../rules/event.ts';
import { DELIVERY_CHANNEL } from './events.ts';

/** Which event and endpoint a delivery is of; null when there is no such delivery. */
export async function findDelivery(
  sql: Sql,
  tenantId: string,
  deliveryId: string,
): Promise<{ readonly eventId: string; readonly endpointId: string } | null> {
  const [row] = await sql.query<{ eventId: string; endpointId: string }>(
    'select event_id as "eventId", endpoint_id as "endpointId" from delivery where tenant_id = $1 and delivery_id = $2',
    [tenantId, deliveryId],
  );
  return row ?? null;
}

/** Adds one more delivery of each event to an endpoint and wakes the dispatchers at commit. Run it with the endpoint locked. */
export async function insertRedeliveries(
  sql: Sql,
  to: { readonly tenantId: string; readonly endpointId: string; readonly bucket: number },
  deliveries: readonly { readonly deliveryId: string; readonly eventId: string }[],
): Promise<void> {
  if (deliveries.length === 0) return;
  await sql.query(
    `insert into delivery (tenant_id, delivery_id, event_id, endpoint_id, bucket, redelivery, profile)
     select $1, n."deliveryId", n."eventId", $2, $3, coalesce((select max(d.redelivery) + 1 from delivery d
       where d.tenant_id = $1 and d.event_id = n."eventId" and d.endpoint_id = $2), 0), e.profile
     from json_to_recordset($4) as n ("deliveryId" text, "eventId" text)
       join webhook_endpoint e on e.tenant_id = $1 and e.endpoint_id = $2`,
    [to.tenantId, to.endpointId, to.bucket, JSON.stringify(deliveries)],
  );
  await notifyDispatchers(sql);
}

/** What to replay: events created in [fromMs, toMs), after the event `after` in order of creation. */
export interface ReplayRange {
  readonly eventTypes: readonly EventType[];
  readonly hostFilter: readonly string[] | null;
  readonly fromMs: number;
  readonly toMs: number;
  readonly after: { readonly createdAtMs: number; readonly eventId: string } | null;
  /** Events whose ids begin so are left out. */
  readonly exceptPrefix: string;
}

/** Events of a range, the oldest first. */
export async function listReplayable(
  sql: Sql,
  tenantId: string,
  range: ReplayRange,
  limit: number,
): Promise<{ readonly eventId: string; readonly createdAtMs: number }[]> {
  const rows = await sql.query<{ event_id: string; created_at: Date }>(
    `select event_id, created_at from webhook_event
     where tenant_id = $1 and created_at >= $2 and created_at < $3 and type = any($4)
       and ($5::text[] is null or host is null or host = any($5)) and not starts_with(event_id, $6)
       and ($7::timestamptz is null or (created_at, event_id) > ($7, $8))
     order by created_at, event_id limit $9`,
    [
      tenantId,
      new Date(range.fromMs),
      new Date(range.toMs),
      [...range.eventTypes],
      range.hostFilter === null ? null : [...range.hostFilter],
      range.exceptPrefix,
      range.after === null ? null : new Date(range.after.createdAtMs),
      range.after?.eventId ?? '',
      limit,
    ],
  );
  return rows.map((row) => ({ eventId: row.event_id, createdAtMs: row.created_at.getTime() }));
}

/**
 * Makes an endpoint's exhausted deliveries since `sinceMs` pending again, the oldest first: same id, same bytes, a schedule that
 * begins anew. Returns how many.
 */
export async function reviveExhausted(
  sql: Sql,
  tenantId: string,
  endpointId: string,
  since: { readonly sinceMs: number; readonly limit: number },
): Promise<number> {
  const rows = await sql.query(
    `update delivery d set state = 'pending', reason = null, retrying = false, decided_at = null, due_at = clock_timestamp(),
       schedule_from = attempts
     from (select delivery_id from delivery where tenant_id = $1 and endpoint_id = $2 and state = 'exhausted' and created_at >= $3
       order by delivery_id limit $4 for update) r
     where d.tenant_id = $1 and d.delivery_id = r.delivery_id returning 1`,
    [tenantId, endpointId, new Date(since.sinceMs), since.limit],
  );
  if (rows.length > 0) await notifyDispatchers(sql);
  return rows.length;
}

/** Wakes the dispatchers at commit; what else a worker is told comes as `payload`. */
export async function notifyDispatchers(sql: Sql, payload = ''): Promise<void> {
  await sql.query(`select pg_notify('${DELIVERY_CHANNEL}', $1)`, [payload]);
}
