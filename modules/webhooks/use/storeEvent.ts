import { randomBytes } from 'node:crypto';
import type { Sql } from '../../../db/database.ts';
import { buildDeliveryId } from '../rules/deliveryId.ts';
import { bucketOf, wantsEvent } from '../rules/endpoint.ts';
import type { NewEvent } from '../store/events.ts';
import { insertEvent, listEnabledEndpoints } from '../store/events.ts';

/** A new delivery id of this moment. */
export function createDeliveryId(): string {
  return buildDeliveryId(Date.now(), randomBytes(10));
}

/**
 * Stores an event with one delivery for each enabled endpoint that wants it, in the database transaction that causes it. An event
 * id that is stored already changes nothing.
 */
export async function storeEvent(sql: Sql, event: Omit<NewEvent, 'deliveries'>): Promise<void> {
  const receivers = (await listEnabledEndpoints(sql, event.tenantId)).filter((endpoint) => wantsEvent(endpoint, event));
  const deliveries = receivers.map(({ endpointId }) => ({
    deliveryId: createDeliveryId(),
    endpointId,
    bucket: bucketOf(endpointId),
  }));
  await insertEvent(sql, { ...event, deliveries });
}
