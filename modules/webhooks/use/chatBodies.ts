import type { Sql } from '../../../db/database.ts';
import { buildChatBody } from '../rules/chat.ts';
import type { LeasedDelivery } from '../store/leases.ts';
import { freezeBodies } from '../store/leases.ts';

/**
 * Gives leased chat messages that have no bytes yet theirs, and stores them, in the database transaction of the lease: frozen
 * before anything is sent. The deliveries come back in the same order; those with bytes stay as they are.
 */
export async function freezeChatBodies(sql: Sql, leased: readonly LeasedDelivery[]): Promise<LeasedDelivery[]> {
  const ready = leased.map((delivery) => {
    const { channel, chatEvent } = delivery;
    if (delivery.body !== null || channel === 'raw' || chatEvent === null) return delivery;
    return { ...delivery, body: buildChatBody(channel, chatEvent) };
  });
  const frozen = ready.flatMap(({ tenantId, deliveryId, body }, place) =>
    body !== null && leased[place]?.body === null ? [{ tenantId, deliveryId, body }] : [],
  );
  await freezeBodies(sql, frozen);
  return ready;
}
