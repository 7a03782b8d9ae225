import { mutation } from '../../core/mutate.ts';

const ENDPOINT = `endpointId origin url channel profile eventTypes hostFilter description enabled disabledReason failuresInRow failingSince
  cooledUntil pausedUntil createdAt`;
const DELIVERY = `deliveryId state reason redelivery attemptCount dueAt createdAt decidedAt event { eventId type host }`;

/** Receivers, and the newest event as a chat shows it. */
export const ENDPOINTS_DOCUMENT = `query endpoints($tenantId: ID) {
  tenant(tenantId: $tenantId) {
    webhookEndpoints(first: 20) { nodes { ${ENDPOINT} } }
    webhookEvents(first: 1) { nodes { eventId type chatLine createdAt } }
  }
}`;

/** One receiver with the newest event as a chat shows it. */
export const ENDPOINT_DOCUMENT = `query endpoint($tenantId: ID, $endpointId: ID!) {
  tenant(tenantId: $tenantId) {
    webhookEndpoint(endpointId: $endpointId) { ${ENDPOINT} }
    webhookEvents(first: 1) { nodes { eventId type chatLine createdAt } }
  }
}`;

/** What was sent, or is to be sent. */
export const DELIVERIES_DOCUMENT = `query deliveries($tenantId: ID, $filter: DeliveryFilter, $after: String) {
  tenant(tenantId: $tenantId) {
    deliveries(filter: $filter, after: $after, first: 25) {
      totalCount pageInfo { hasNextPage endCursor } nodes { ${DELIVERY} endpoint { endpointId origin } }
    }
  }
}`;

/** How fast webhooks were in the last 7 days. */
export const TIMES_DOCUMENT = `query webhookTimes($tenantId: ID) {
  tenant(tenantId: $tenantId) { webhookTimes(window: { lastDays: 7 }) { failing firstAttempt { p50Ms p95Ms } delivered { deliveries p50Ms p95Ms } } }
}`;

/** Everything of one event and of each try to deliver it. */
export const EVENT_DOCUMENT = `query event($tenantId: ID, $eventId: ID!) {
  tenant(tenantId: $tenantId) {
    deliveries(filter: { eventId: $eventId }, first: 20) {
      nodes {
        deliveryId state reason redelivery dueAt createdAt endpoint { endpointId origin profile channel }
        attempts { attempt startedAt durationMs status reason responseStart }
        event { eventId type host createdAt detailed summary chatLine }
      }
    }
  }
}`;

export const CREATE_ENDPOINT_DOCUMENT = mutation('createEndpoint', 'endpointId secret');
export const UPDATE_ENDPOINT_DOCUMENT = mutation('updateEndpoint', 'endpointId');
export const DELETE_ENDPOINT_DOCUMENT = mutation('deleteEndpoint', 'endpointId');
export const ENABLE_ENDPOINT_DOCUMENT = mutation('enableEndpoint', 'endpointId');
export const DISABLE_ENDPOINT_DOCUMENT = mutation('disableEndpoint', 'endpointId');
export const ROTATE_SECRET_DOCUMENT = mutation('rotateEndpointSecret', 'endpointId secret');
export const PING_ENDPOINT_DOCUMENT = mutation('pingEndpoint', 'eventId deliveryId');
export const PAUSE_ENDPOINT_DOCUMENT = mutation('pauseEndpoint', 'endpointId pausedUntil');
export const RESUME_ENDPOINT_DOCUMENT = mutation('resumeEndpoint', 'endpointId pausedUntil');
export const SKIP_WAIT_DOCUMENT = mutation('skipEndpointWait', 'endpointId deliveries');
export const REDELIVER_DOCUMENT = mutation('redeliver', 'deliveryId');
export const RECOVER_DOCUMENT = mutation('recoverDeliveries', 'deliveries isMore');
export const REPLAY_DOCUMENT = mutation('replayEvents', 'deliveries next');

/** A receiver of events. */
export interface Endpoint {
  readonly endpointId: string;
  readonly origin: string;
  readonly url: string | null;
  readonly channel: string;
  readonly profile: string;
  readonly eventTypes: readonly string[];
  readonly hostFilter: readonly string[] | null;
  readonly description: string;
  readonly enabled: boolean;
  readonly disabledReason: string | null;
  readonly failuresInRow: number;
  readonly failingSince: number | null;
  readonly cooledUntil: number | null;
  readonly pausedUntil: number | null;
  readonly createdAt: number;
}

/** The newest event, as a chat shows it. */
export interface NewestEvent {
  readonly eventId: string;
  readonly type: string;
  readonly chatLine: string;
  readonly createdAt: number;
}

/** An event on its way to an endpoint. */
export interface Delivery {
  readonly deliveryId: string;
  readonly state: string;
  readonly reason: string | null;
  readonly redelivery: number;
  readonly attemptCount: number;
  readonly dueAt: number;
  readonly createdAt: number;
  readonly decidedAt: number | null;
  readonly event: { readonly eventId: string; readonly type: string; readonly host: string | null } | null;
  readonly endpoint: { readonly endpointId: string; readonly origin: string } | null;
}
