import { randomUUID } from 'node:crypto';
import type { Sql, Transactional } from '../../../db/database.ts';
import { ServiceError } from '../../kernel/errors.ts';
import { bucketOf } from '../rules/endpoint.ts';
import { buildPingData, PING_PREFIX } from '../rules/ping.ts';
import type { EndpointRow } from '../store/endpoints.ts';
import { insertEvent } from '../store/events.ts';
import { findDelivery, insertRedeliveries, listReplayable, reviveExhausted } from '../store/redeliver.ts';
import { getLockedEndpoint } from './endpoints.ts';
import { createDeliveryId } from './storeEvent.ts';

/** What sending anew works with. */
export interface RedeliverDeps {
  readonly database: Transactional;
}

/** Most deliveries one replay or recovery makes; the answer says whether there is more. */
const MAX_AT_ONCE = 1_000;

/**
 * Delivers the event of a delivery once more, to the same endpoint: a new delivery id, the same `eventId`, the profile of now.
 * Throws `not_found`, and `conflict` for a disabled endpoint. Each call makes a further delivery.
 */
export async function redeliver(
  deps: RedeliverDeps,
  tenantId: string,
  deliveryId: string,
): Promise<{ readonly deliveryId: string }> {
  return await deps.database.transaction(async (sql) => {
    const delivery = await findDelivery(sql, tenantId, deliveryId);
    if (delivery === null) throw new ServiceError('not_found', 'no such delivery');
    const { eventId, endpointId } = delivery;
    await getOpenEndpoint(sql, tenantId, endpointId);
    const newId = createDeliveryId();
    await insertRedeliveries(sql, { tenantId, endpointId, bucket: bucketOf(endpointId) }, [{ deliveryId: newId, eventId }]);
    return { deliveryId: newId };
  });
}

/** Where a replay of more than 1,000 events goes on. */
export interface ReplayCursor {
  readonly createdAtMs: number;
  readonly eventId: string;
}

/**
 * Delivers to an endpoint, once more or for the first time, every event of its types and hosts created in [fromMs, toMs), the
 * oldest first, at most 1,000 a call: `next` is not null when there is more. Throws `not_found`, `invalid_parameter`, and
 * `conflict` for a disabled endpoint. Each call makes further deliveries.
 */
export async function replay(
  deps: RedeliverDeps,
  tenantId: string,
  endpointId: string,
  range: { readonly fromMs: number; readonly toMs: number; readonly after?: ReplayCursor },
): Promise<{ readonly deliveries: number; readonly next: ReplayCursor | null }> {
  checkTime('fromMs', range.fromMs);
  checkTime('toMs', range.toMs);
  if (range.fromMs > range.toMs)
    throw new ServiceError('invalid_parameter', 'a range must not end before it begins', { parameter: 'toMs' });
  return await deps.database.transaction(async (sql) => {
    const { eventTypes, hostFilter } = await getOpenEndpoint(sql, tenantId, endpointId);
    const wanted = { ...range, eventTypes, hostFilter, after: range.after ?? null, exceptPrefix: PING_PREFIX };
    const events = await listReplayable(sql, tenantId, wanted, MAX_AT_ONCE);
    const ids = events.map(createDeliveryId).sort(); // ids of one millisecond are in no order by themselves
    await insertRedeliveries(
      sql,
      { tenantId, endpointId, bucket: bucketOf(endpointId) },
      events.map(({ eventId }, place) => ({ deliveryId: ids[place] ?? createDeliveryId(), eventId })),
    );
    return { deliveries: events.length, next: events.length < MAX_AT_ONCE ? null : (events.at(-1) ?? null) };
  });
}

/**
 * Makes the endpoint's exhausted deliveries created since `sinceMs` pending again, the oldest first, at most 1,000 a call: same
 * delivery ids, same bytes, eight attempts anew. Throws `not_found`, `invalid_parameter`, and `conflict` for a disabled endpoint.
 */
export async function recover(
  deps: RedeliverDeps,
  tenantId: string,
  endpointId: string,
  sinceMs: number,
): Promise<{ readonly deliveries: number; readonly isMore: boolean }> {
  checkTime('sinceMs', sinceMs);
  return await deps.database.transaction(async (sql) => {
    await getOpenEndpoint(sql, tenantId, endpointId);
    const deliveries = await reviveExhausted(sql, tenantId, endpointId, { sinceMs, limit: MAX_AT_ONCE });
    return { deliveries, isMore: deliveries === MAX_AT_ONCE };
  });
}

/**
 * Sends a test event of the endpoint's first event type to this endpoint alone; its event id begins with `evt_ping_`. Throws
 * `not_found`, and `conflict` for a disabled endpoint. Each call makes an event of its own.
 */
export async function pingEndpoint(
  deps: RedeliverDeps,
  tenantId: string,
  endpointId: string,
): Promise<{ readonly eventId: string; readonly deliveryId: string }> {
  return await deps.database.transaction(async (sql) => {
    const endpoint = await getOpenEndpoint(sql, tenantId, endpointId);
    const type = endpoint.eventTypes[0] ?? 'settlement.completed';
    const eventId = `${PING_PREFIX}${randomUUID()}`;
    const deliveryId = createDeliveryId();
    await insertEvent(sql, {
      tenantId,
      eventId,
      type,
      host: null,
      ...buildPingData(type, tenantId, Date.now()),
      deliveries: [{ deliveryId, endpointId, bucket: bucketOf(endpointId) }],
    });
    return { eventId, deliveryId };
  });
}

async function getOpenEndpoint(sql: Sql, tenantId: string, endpointId: string): Promise<EndpointRow> {
  const endpoint = await getLockedEndpoint(sql, tenantId, endpointId);
  if (!endpoint.enabled) throw new ServiceError('conflict', 'the endpoint is disabled; enable it first');
  return endpoint;
}

function checkTime(parameter: string, ms: number): void {
  if (Number.isInteger(ms) && ms >= 0 && ms <= 8_640_000_000_000_000) return;
  throw new ServiceError('invalid_parameter', 'a time must be a whole number of milliseconds since 1970', { parameter });
}
