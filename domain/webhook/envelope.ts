import type { EventData, EventType, Profile } from './event.ts';

/** What is POSTed (specification, Envelope); `id` is the delivery's, `eventId` the occurrence's, `createdAt` epoch ms. */
export interface Envelope {
  readonly id: string;
  readonly type: EventType;
  readonly eventId: string;
  readonly createdAt: number;
  readonly data: object;
}

/** A stored event as a delivery needs it. */
export interface StoredEvent extends EventData {
  readonly eventId: string;
  readonly type: EventType;
  readonly createdAtMs: number;
}

/**
 * The body of a delivery as text; its UTF-8 bytes are frozen with the first attempt. The profile is the endpoint's at that
 * moment, so a switch takes effect on the next delivery (specification, settlement.completed).
 */
export function buildBody(deliveryId: string, event: StoredEvent, profile: Profile): string {
  const envelope: Envelope = {
    id: deliveryId,
    type: event.type,
    eventId: event.eventId,
    createdAt: event.createdAtMs,
    data: profile === 'summary' ? event.summary : event.detailed,
  };
  return JSON.stringify(envelope);
}
