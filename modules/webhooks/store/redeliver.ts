import { sql as text } from 'kysely';
import type { Sql } from '../../../db/database.ts';
import { anyOf, run, tables } from '../../../db/statement.ts';
import type { EventType } from '../rules/event.ts';
import { DELIVERY_CHANNEL } from './events.ts';

/** Which event and endpoint a delivery is of; null when there is no such delivery. */
export async function findDelivery(
  sql: Sql,
  tenantId: string,
  deliveryId: string,
): Promise<{ readonly eventId: string; readonly endpointId: string } | null> {
  const delivery = tables.selectFrom('delivery').select(['eventId', 'endpointId']).where('tenantId', '=', tenantId);
  const [row] = await run(sql, delivery.where('deliveryId', '=', deliveryId));
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
  const { hostFilter, after } = range;
  let events = tables
    .selectFrom('webhook_event')
    .select(['eventId', 'createdAt'])
    .where('tenantId', '=', tenantId)
    .where('createdAt', '>=', new Date(range.fromMs))
    .where('createdAt', '<', new Date(range.toMs))
    .where('type', '=', anyOf(range.eventTypes))
    .where(text<boolean>`not starts_with(event_id, ${range.exceptPrefix})`);
  if (hostFilter !== null) {
    events = events.where((is) => is.or([is('host', 'is', null), is('host', '=', anyOf(hostFilter))]));
  }
  if (after !== null) {
    events = events.where(text<boolean>`(created_at, event_id) > (${new Date(after.createdAtMs)}, ${after.eventId})`);
  }
  const rows = await run(sql, events.orderBy('createdAt').orderBy('eventId').limit(limit));
  return rows.map((row) => ({ eventId: row.eventId, createdAtMs: row.createdAt.getTime() }));
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
  const rows = await run(
    sql,
    tables
      .updateTable('delivery as d')
      .from(({ selectFrom }) =>
        selectFrom('delivery as given')
          .select('given.deliveryId')
          .where('given.tenantId', '=', tenantId)
          .where('given.endpointId', '=', endpointId)
          .where('given.state', '=', 'exhausted')
          .where('given.createdAt', '>=', new Date(since.sinceMs))
          .orderBy('given.deliveryId')
          .limit(since.limit)
          .forUpdate()
          .as('up'),
      )
      .set({
        state: 'pending',
        reason: null,
        retrying: false,
        decidedAt: null,
        dueAt: text<Date>`clock_timestamp()`,
        scheduleFrom: ({ ref }) => ref('d.attempts'),
      })
      .where('d.tenantId', '=', tenantId)
      .whereRef('d.deliveryId', '=', 'up.deliveryId')
      .returning('d.deliveryId'),
  );
  if (rows.length > 0) await notifyDispatchers(sql);
  return rows.length;
}

/** Wakes the dispatchers at commit; what else a worker is told comes as `payload`. */
export async function notifyDispatchers(sql: Sql, payload = ''): Promise<void> {
  await sql.query(`select pg_notify('${DELIVERY_CHANNEL}', $1)`, [payload]);
}
