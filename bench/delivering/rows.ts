import type { Database } from '../../db/database.ts';
import { DELIVERY_CHANNEL } from '../../modules/webhooks/store/events.ts';
import { createWebhookSecret, secretContext } from '../../modules/webhooks/use/secret.ts';
import type { SecretBox } from '../../platform/tokens/secretBox.ts';

/** An endpoint of a site of its own. */
export interface BenchEndpoint {
  readonly tenantId: string;
  readonly endpointId: string;
}

/** The stored data of an event of four legs, about 700 bytes as a body. */
export const EVENT_DATA = JSON.stringify({
  tenant: 't',
  legs: Array.from({ length: 4 }, (_, n) => ({ toAddress: `0x${'a'.repeat(40)}`, amountMicro: n })),
});

/** Sites with one endpoint each that leads to `url`. */
export async function addEndpoints(database: Database, box: SecretBox, count: number, url: string): Promise<BenchEndpoint[]> {
  const rows = await database.query<{ tenantId: string; endpointId: string }>(
    `with t as (insert into tenant (tenant_id, status, price_usdc) select gen_random_uuid(), 'active', 1 from generate_series(1, $1)
       returning tenant_id), e as (insert into webhook_endpoint (tenant_id, endpoint_id, url, event_types)
       select tenant_id, gen_random_uuid(), $2, '{settlement.completed}' from t returning tenant_id, endpoint_id),
     l as (insert into endpoint_lease (tenant_id, endpoint_id, slot) select tenant_id, endpoint_id, s from e, generate_series(1, 2) s)
     select tenant_id as "tenantId", endpoint_id as "endpointId" from e`,
    [count, url],
  );
  const sealed = rows.map(({ tenantId, endpointId }) => box.seal(createWebhookSecret(), secretContext(tenantId, endpointId)));
  await database.query(
    `insert into webhook_secret (tenant_id, endpoint_id, secret_id, sealed)
     select t, e, gen_random_uuid(), s from unnest($1::uuid[], $2::uuid[], $3::bytea[]) as u (t, e, s)`,
    [rows.map(({ tenantId }) => tenantId), rows.map(({ endpointId }) => endpointId), sealed],
  );
  return rows;
}

/** Events with one delivery each, as closing a window writes them, spread over the endpoints; returns the deliveries' ids. */
export async function addDeliveries(
  database: Database,
  endpoints: readonly BenchEndpoint[],
  count: number,
): Promise<readonly string[]> {
  const rows = await database.query<{ id: string }>(
    `with place as (select t, e from generate_series(0, $3 - 1) n
       join unnest($1::uuid[], $2::uuid[]) with ordinality u (t, e, o) on o = 1 + n % $4),
     event as (insert into webhook_event (tenant_id, event_id, type, detailed, summary)
       select t, 'evt_' || gen_random_uuid(), 'settlement.completed', $5, '{}' from place returning tenant_id, event_id)
     insert into delivery (tenant_id, delivery_id, event_id, endpoint_id, bucket, profile)
     select tenant_id, 'dlv_' || gen_random_uuid(), event_id, e, ('x' || right(e::text, 2))::bit(8)::integer, 'detailed'
     from event join (select t, e from unnest($1::uuid[], $2::uuid[]) u (t, e)) u on t = tenant_id returning delivery_id as id`,
    [
      endpoints.map(({ tenantId }) => tenantId),
      endpoints.map(({ endpointId }) => endpointId),
      count,
      endpoints.length,
      EVENT_DATA,
    ],
  );
  await database.query(`select pg_notify('${DELIVERY_CHANNEL}', '')`);
  return rows.map(({ id }) => id);
}
