import type { Sql } from '../../../../db/database.ts';
import type { Span } from '../../../kernel/time/window.ts';
import type { Source } from '../../../paging/store/source.ts';
import { equals, isOneOf, isWithin, timeOf, timeOrNull } from '../../../paging/store/source.ts';
import type { EventType } from '../../../webhooks/rules/event.ts';

/** A webhook endpoint as its owner sees it, and how healthy it is; never its secret. */
export interface EndpointShown {
  readonly endpointId: string;
  readonly url: string;
  readonly channel: string;
  readonly eventTypes: readonly string[];
  readonly hostFilter: readonly string[] | null;
  readonly profile: string;
  readonly description: string;
  readonly enabled: boolean;
  readonly disabledReason: string | null;
  readonly failuresInRow: number;
  readonly failingSinceMs: number | null;
  readonly cooledUntilMs: number | null;
  readonly createdAtMs: number;
}

/** Which endpoints. */
export interface EndpointFilter {
  readonly id?: string;
  /** Those that fail now, or were switched off because they did. */
  readonly isFailing?: true;
}

/** Endpoints of a site that are not deleted. */
export const ENDPOINTS: Source<EndpointShown, EndpointFilter> = {
  columns: `e.endpoint_id, e.url, e.channel, e.event_types, e.host_filter, e.profile, e.description, e.enabled, e.disabled_reason,
    e.failures_in_row, e.failing_since, e.cooled_until, e.created_at`,
  from: 'webhook_endpoint e',
  tenant: 'e.tenant_id',
  id: { column: 'e.endpoint_id', type: 'uuid' },
  orderings: { OLDEST: { column: 'e.created_at', type: 'timestamptz', direction: 'asc' } },
  keys: { id: { column: 'e.endpoint_id', type: 'uuid' } },
  where: (binder, filter) => [
    ...equals(binder, 'e.endpoint_id', filter.id),
    ...(filter.isFailing ? ["(e.disabled_reason in ('gone', 'failing') or e.enabled and e.failures_in_row > 0)"] : []),
    'e.deleted_at is null',
  ],
  read: (row) => ({
    endpointId: row['endpoint_id'],
    url: row['url'],
    channel: row['channel'],
    eventTypes: row['event_types'],
    hostFilter: row['host_filter'],
    profile: row['profile'],
    description: row['description'],
    enabled: row['enabled'],
    disabledReason: row['disabled_reason'],
    failuresInRow: row['failures_in_row'],
    failingSinceMs: timeOrNull(row['failing_since']),
    cooledUntilMs: timeOrNull(row['cooled_until']),
    createdAtMs: timeOf(row['created_at']),
  }),
};

/** An event: the same id always carries the same data (invariant 8). */
export interface EventRow {
  readonly eventId: string;
  readonly type: EventType;
  readonly host: string | null;
  /** The JSON text of each profile's data. */
  readonly detailed: string;
  readonly summary: string;
  readonly createdAtMs: number;
}

/** Which events. */
export interface EventFilter {
  readonly id?: string;
  readonly type?: string | null | undefined;
  readonly host?: string | null | undefined;
  readonly window?: Span;
}

/** Events of a site. */
export const EVENTS: Source<EventRow, EventFilter> = {
  columns: 'v.event_id, v.type, v.host, v.detailed::text, v.summary::text, v.created_at',
  from: 'webhook_event v',
  tenant: 'v.tenant_id',
  id: { column: 'v.event_id', type: 'text' },
  orderings: {
    NEWEST: { column: 'v.created_at', type: 'timestamptz', direction: 'desc' },
    OLDEST: { column: 'v.created_at', type: 'timestamptz', direction: 'asc' },
  },
  keys: { id: { column: 'v.event_id', type: 'text' } },
  where: (binder, filter) => [
    ...equals(binder, 'v.event_id', filter.id),
    ...equals(binder, 'v.type', filter.type),
    ...equals(binder, 'v.host', filter.host),
    ...isWithin(binder, 'v.created_at', filter.window),
  ],
  read: (row) => ({
    eventId: row['event_id'],
    type: row['type'],
    host: row['host'],
    detailed: row['detailed'],
    summary: row['summary'],
    createdAtMs: timeOf(row['created_at']),
  }),
};

/** One event for one endpoint. */
export interface DeliveryShown {
  readonly deliveryId: string;
  readonly eventId: string;
  readonly endpointId: string;
  readonly redelivery: number;
  readonly state: 'pending' | 'delivered' | 'failed' | 'exhausted';
  readonly reason: string | null;
  readonly attemptCount: number;
  readonly dueAtMs: number;
  readonly createdAtMs: number;
  readonly decidedAtMs: number | null;
}

/** Which deliveries. */
export interface DeliveryFilter {
  readonly id?: string;
  readonly endpointId?: string | null | undefined;
  readonly eventId?: string | null | undefined;
  readonly states?: readonly string[] | null | undefined;
  /** Those that were tried in vain and will be tried again, or all others. */
  readonly isFailing?: boolean | null | undefined;
  readonly window?: Span;
}

/** A delivery `d` that was tried in vain and will be tried again, in the words of the index of these. */
const FAILING = "d.state = 'pending' and d.attempts > 0";

/** How many deliveries of a site, or of one endpoint, fail now; counts no further than `most`. */
export async function countFailing(
  sql: Sql,
  { tenantId, endpointId }: { readonly tenantId: string; readonly endpointId: string | null },
  most: number,
): Promise<number> {
  const [row] = await sql.query<{ count: string }>(
    `select count(*) from (
       select from delivery d where d.tenant_id = $1 and ${FAILING} and ($3::uuid is null or d.endpoint_id = $3) limit $2) failing`,
    [tenantId, most, endpointId],
  );
  return Number(row?.count ?? 0);
}

/** Deliveries of a site; their ids begin with the time. */
export const DELIVERIES: Source<DeliveryShown, DeliveryFilter> = {
  columns: `d.delivery_id, d.event_id, d.endpoint_id, d.redelivery, d.state, d.reason, d.attempts, d.due_at, d.created_at,
    d.decided_at`,
  from: 'delivery d',
  tenant: 'd.tenant_id',
  id: { column: 'd.delivery_id', type: 'text' },
  orderings: {
    NEWEST: { column: 'd.delivery_id', type: 'text', direction: 'desc' },
    OLDEST: { column: 'd.delivery_id', type: 'text', direction: 'asc' },
  },
  keys: { event: { column: 'd.event_id', type: 'text' } },
  where: (binder, filter) => [
    ...equals(binder, 'd.delivery_id', filter.id),
    ...equals(binder, 'd.endpoint_id', filter.endpointId),
    ...equals(binder, 'd.event_id', filter.eventId),
    ...isOneOf(binder, 'd.state', filter.states),
    ...(filter.isFailing == null ? [] : [filter.isFailing ? FAILING : `not (${FAILING})`]),
    ...isWithin(binder, 'd.created_at', filter.window),
  ],
  read: (row) => ({
    deliveryId: row['delivery_id'],
    eventId: row['event_id'],
    endpointId: row['endpoint_id'],
    redelivery: row['redelivery'],
    state: row['state'],
    reason: row['reason'],
    attemptCount: row['attempts'],
    dueAtMs: timeOf(row['due_at']),
    createdAtMs: timeOf(row['created_at']),
    decidedAtMs: timeOrNull(row['decided_at']),
  }),
};

/** One try of a delivery. */
export interface AttemptRow {
  readonly attempt: number;
  readonly startedAtMs: number;
  readonly durationMs: number;
  readonly status: number | null;
  readonly reason: string | null;
  readonly responseStart: string;
}

/** Attempts of a site's deliveries. */
export const ATTEMPTS: Source<AttemptRow, object> = {
  columns: 'a.attempt, a.started_at, a.duration_ms, a.status, a.reason, a.response_start',
  from: 'delivery_attempt a',
  tenant: 'a.tenant_id',
  id: { column: "(a.delivery_id || ':' || lpad(a.attempt::text, 5, '0'))", type: 'text' },
  orderings: { OLDEST: { column: 'a.started_at', type: 'timestamptz', direction: 'asc' } },
  keys: { delivery: { column: 'a.delivery_id', type: 'text' } },
  where: () => [],
  read: (row) => ({
    attempt: row['attempt'],
    durationMs: row['duration_ms'],
    status: row['status'],
    reason: row['reason'],
    responseStart: row['response_start'],
    startedAtMs: timeOf(row['started_at']),
  }),
};
