import { Binder } from '../../../db/binder.ts';
import type { Sql } from '../../../db/database.ts';
import type { Span } from '../../kernel/time/window.ts';
import { isEmpty } from '../../kernel/time/window.ts';
import { within } from './earnings/crossings.ts';
import type { HalfAndMost } from './percentiles.ts';
import { durations, halfAndMost, millisecondsTo } from './percentiles.ts';

/** How long deliveries took from their event: how many got there, and after how long half and nineteen in twenty had. */
export interface DeliveryTimes extends HalfAndMost {
  readonly deliveries: number;
}

/** Until they were tried first, and until they were delivered. */
export interface WebhookTimes {
  readonly firstAttempt: DeliveryTimes;
  readonly delivered: DeliveryTimes;
}

/** The deliveries to one endpoint, deleted or not, of the events of a window. */
export interface EndpointTimes extends WebhookTimes {
  readonly endpointId: string;
  /** Deliveries made with the events, by where they stand. */
  readonly made: number;
  readonly pending: number;
  /** Given up: the receiver is gone or cannot be reached, or every try failed. */
  readonly failed: number;
  /** How many tries failed. */
  readonly failedAttempts: number;
}

const NONE: DeliveryTimes = { deliveries: 0, ...durations(null) };

/** From each event of a window to the first try and to the end of the delivery that was made with it. Reads each of them, by its event. */
export async function readWebhookTimes(
  sql: Sql,
  { tenantId, endpointId }: { readonly tenantId: string; readonly endpointId: string | null },
  window: Span,
): Promise<WebhookTimes> {
  if (isEmpty(window)) return { firstAttempt: NONE, delivered: NONE };
  const binder = new Binder();
  const where = [
    `v.tenant_id = ${binder.bind(tenantId)}`,
    within(binder, 'v.created_at', window),
    ...(endpointId === null ? [] : [`d.endpoint_id = ${binder.bind(endpointId)}`]),
  ];
  type Row = Record<'tried' | 'delivered', number> & Record<'tried_ms' | 'delivered_ms', string[] | null>;
  const [row] = await sql.query<Row & Record<string, unknown>>(
    `select count(tried)::int as tried, count(delivered)::int as delivered, ${halfAndMost('tried')} as tried_ms,
       ${halfAndMost('delivered')} as delivered_ms
     from (select ${millisecondsTo('a.started_at', 'v.created_at')} as tried,
         case when d.state = 'delivered' then ${millisecondsTo('d.decided_at', 'v.created_at')} end as delivered
       from webhook_event v
         join delivery d on d.tenant_id = v.tenant_id and d.event_id = v.event_id and d.redelivery = 0
         left join delivery_attempt a on a.tenant_id = d.tenant_id and a.delivery_id = d.delivery_id and a.attempt = 1
       where ${where.join(' and ')}) took`,
    binder.values,
  );
  return {
    firstAttempt: { deliveries: row?.tried ?? 0, ...durations(row?.tried_ms) },
    delivered: { deliveries: row?.delivered ?? 0, ...durations(row?.delivered_ms) },
  };
}

/** The same for each endpoint, those with the most failed deliveries and then the most failed tries first, `most` of them; in one statement. */
export async function readTimesByEndpoint(
  sql: Sql,
  { tenantId, endpointId }: { readonly tenantId: string; readonly endpointId: string | null },
  window: Span,
  most: number,
): Promise<EndpointTimes[]> {
  if (isEmpty(window)) return [];
  const binder = new Binder();
  const where = [
    `v.tenant_id = ${binder.bind(tenantId)}`,
    within(binder, 'v.created_at', window),
    ...(endpointId === null ? [] : [`d.endpoint_id = ${binder.bind(endpointId)}`]),
  ];
  type Counts = Record<'made' | 'pending' | 'failed' | 'failed_attempts' | 'tried' | 'delivered', number>;
  type Row = Counts & { readonly endpoint_id: string } & Record<'tried_ms' | 'delivered_ms', string[] | null>;
  const rows = await sql.query<Row & Record<string, unknown>>(
    `select endpoint_id, count(*)::int as made, (count(*) filter (where state = 'pending'))::int as pending,
       (count(*) filter (where state in ('failed', 'exhausted')))::int as failed, sum(failed_attempts)::int as failed_attempts,
       count(tried)::int as tried, count(delivered)::int as delivered, ${halfAndMost('tried')} as tried_ms,
       ${halfAndMost('delivered')} as delivered_ms
     from (select d.endpoint_id, d.state, ${millisecondsTo('a.started_at', 'v.created_at')} as tried,
         d.attempts - case when d.state = 'delivered' then 1 else 0 end as failed_attempts,
         case when d.state = 'delivered' then ${millisecondsTo('d.decided_at', 'v.created_at')} end as delivered
       from webhook_event v
         join delivery d on d.tenant_id = v.tenant_id and d.event_id = v.event_id and d.redelivery = 0
         left join delivery_attempt a on a.tenant_id = d.tenant_id and a.delivery_id = d.delivery_id and a.attempt = 1
       where ${where.join(' and ')}) took
     group by endpoint_id order by failed desc, failed_attempts desc, endpoint_id limit ${binder.bind(most)}`,
    binder.values,
  );
  return rows.map(({ endpoint_id: id, made, pending, failed, failed_attempts: failedAttempts, ...row }) => ({
    endpointId: id,
    made,
    pending,
    failed,
    failedAttempts,
    firstAttempt: { deliveries: row.tried, ...durations(row.tried_ms) },
    delivered: { deliveries: row.delivered, ...durations(row.delivered_ms) },
  }));
}
