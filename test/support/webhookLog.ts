/** What is stored about webhook endpoints, as tests read it; an owner reads it over GraphQL. */
import type { Sql } from '../../db/database.ts';
import type { EventType } from '../../modules/webhooks/rules/event.ts';
import type { EndpointRow } from '../../modules/webhooks/store/endpoints.ts';
import { lockEndpoint } from '../../modules/webhooks/store/endpoints.ts';

/** One try of a delivery, as the endpoint's log shows it. */
export interface LoggedAttempt {
  readonly attempt: number;
  readonly startedAtMs: number;
  readonly durationMs: number;
  readonly status: number | null;
  readonly reason: string | null;
  readonly responseStart: string;
}

/** One delivery of an endpoint's log. */
export interface LoggedDelivery {
  readonly deliveryId: string;
  readonly endpointId: string;
  readonly eventId: string;
  readonly type: EventType;
  readonly state: 'pending' | 'delivered' | 'failed' | 'exhausted';
  readonly reason: string | null;
  readonly retrying: boolean;
  /** 0: made with the event; else the how manieth redelivery or replay of it. */
  readonly redelivery: number;
  readonly createdAtMs: number;
  readonly dueAtMs: number;
  readonly attempts: readonly LoggedAttempt[];
}

interface DeliveryRow {
  readonly delivery_id: string;
  readonly endpoint_id: string;
  readonly event_id: string;
  readonly type: EventType;
  readonly state: LoggedDelivery['state'];
  readonly reason: string | null;
  readonly retrying: boolean;
  readonly redelivery: number;
  readonly created_at: Date;
  readonly due_at: Date;
  readonly attempts: readonly (Omit<LoggedAttempt, 'startedAtMs'> & { readonly startedAtMs: string })[];
}

/** A tenant's endpoints, the oldest first. */
export async function listEndpoints({ database: sql }: { readonly database: Sql }, tenantId: string): Promise<EndpointRow[]> {
  const rows = await sql.query<{ endpoint_id: string }>(
    'select endpoint_id from webhook_endpoint where tenant_id = $1 and deleted_at is null order by created_at, endpoint_id',
    [tenantId],
  );
  const found = await Promise.all(rows.map(({ endpoint_id }) => lockEndpoint(sql, tenantId, endpoint_id)));
  return found.filter((row) => row !== null);
}

/** An endpoint's deliveries, newest first, with their attempts in order. */
export async function listDeliveries(
  { database: sql }: { readonly database: Sql },
  tenantId: string,
  endpointId: string,
  page: { readonly limit?: number; readonly before?: string } = {},
): Promise<LoggedDelivery[]> {
  const rows = await sql.query<DeliveryRow>(
    `select d.delivery_id, d.endpoint_id, d.event_id, ev.type, d.state, d.reason, d.retrying, d.redelivery, d.created_at, d.due_at,
       coalesce((select json_agg(json_build_object('attempt', a.attempt, 'startedAtMs', a.started_at, 'durationMs', a.duration_ms,
           'status', a.status, 'reason', a.reason, 'responseStart', a.response_start) order by a.attempt)
         from delivery_attempt a where a.tenant_id = d.tenant_id and a.delivery_id = d.delivery_id), '[]') as attempts
     from delivery d join webhook_event ev on ev.tenant_id = d.tenant_id and ev.event_id = d.event_id
     where d.tenant_id = $1 and d.endpoint_id = $2 and ($4::text is null or d.delivery_id < $4)
     order by d.delivery_id desc limit $3`,
    [tenantId, endpointId, page.limit ?? 50, page.before ?? null],
  );
  return rows.map((row) => ({
    deliveryId: row.delivery_id,
    endpointId: row.endpoint_id,
    eventId: row.event_id,
    type: row.type,
    state: row.state,
    reason: row.reason,
    retrying: row.retrying,
    redelivery: row.redelivery,
    createdAtMs: row.created_at.getTime(),
    dueAtMs: row.due_at.getTime(),
    attempts: row.attempts.map((attempt) => ({ ...attempt, startedAtMs: Date.parse(attempt.startedAtMs) })),
  }));
}
