import type { Sql } from '../../../db/database.ts';
import type { LeasedDelivery } from './leases.ts';
import { IS_LEASED, leaseWithSlot } from './leases.ts';

/** Names one endpoint. */
export interface EndpointRef {
  readonly tenantId: string;
  readonly endpointId: string;
}

/** Whether an endpoint cools and whether it is enabled; null when there is none. */
export async function readCooling(
  sql: Sql,
  { tenantId, endpointId }: EndpointRef,
): Promise<{ readonly cools: boolean; readonly enabled: boolean } | null> {
  const [row] = await sql.query<{ cools: boolean; enabled: boolean }>(
    'select cooled_until is not null as cools, enabled from webhook_endpoint where tenant_id = $1 and endpoint_id = $2',
    [tenantId, endpointId],
  );
  return row ?? null;
}

/** Says when a cooling endpoint's next probe is due; one that does not cool stays as it is. */
export async function scheduleProbe(sql: Sql, { tenantId, endpointId }: EndpointRef, inMs: number): Promise<void> {
  await sql.query(
    `update webhook_endpoint set cooled_until = clock_timestamp() + $3 * interval '1 millisecond'
     where tenant_id = $1 and endpoint_id = $2 and cooled_until is not null`,
    [tenantId, endpointId, inMs],
  );
}

/** Lets the first attempts of an endpoint go out again; its count of failures stays. */
export async function releaseEndpoint(sql: Sql, { tenantId, endpointId }: EndpointRef): Promise<void> {
  await sql.query('update webhook_endpoint set cooled_until = null where tenant_id = $1 and endpoint_id = $2', [
    tenantId,
    endpointId,
  ]);
}

/** What leasing a probe came to: `busy` when no slot is free or every row is leased, `none` when nothing waits. */
export type ProbeLease =
  | { readonly kind: 'leased'; readonly delivery: LeasedDelivery }
  | { readonly kind: 'busy' }
  | { readonly kind: 'none' };

/**
 * Leases the oldest delivery of an endpoint that waits for its first attempt, cooling or not. Run it in a database transaction.
 */
export async function leaseOldest(sql: Sql, endpoint: EndpointRef, bucket: number, leaseMs: number): Promise<ProbeLease> {
  const { tenantId, endpointId } = endpoint;
  const waits = `from delivery d where bucket = $1 and tenant_id = $2 and endpoint_id = $3 and state = 'pending' and not retrying`;
  const [row] = await sql.query<{ delivery_id: string }>(
    `select delivery_id ${waits} and not ${IS_LEASED}
       order by delivery_id limit 1 for update of d skip locked`,
    [bucket, tenantId, endpointId],
  );
  if (row === undefined) {
    const rest = await sql.query(`select 1 ${waits} limit 1`, [bucket, tenantId, endpointId]);
    return { kind: rest.length > 0 ? 'busy' : 'none' };
  }
  const delivery = await leaseWithSlot(sql, { tenantId, endpointId, deliveryId: row.delivery_id }, leaseMs);
  return delivery === null ? { kind: 'busy' } : { kind: 'leased', delivery };
}

/** Cooling endpoints of the buckets [from, to) whose probe is overdue by more than `overdueMs`: their workflow seems to be missing. */
export async function listOverdueProbes(
  sql: Sql,
  range: { readonly from: number; readonly to: number },
  overdueMs: number,
): Promise<EndpointRef[]> {
  return await sql.query<{ tenantId: string; endpointId: string }>(
    `select tenant_id as "tenantId", endpoint_id as "endpointId" from webhook_endpoint
     where cooled_until < clock_timestamp() - $3 * interval '1 millisecond'
       and ('x' || right(endpoint_id::text, 2))::bit(8)::integer between $1 and $2 - 1
     order by cooled_until limit 100`,
    [range.from, range.to, overdueMs],
  );
}
