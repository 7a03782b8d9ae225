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
