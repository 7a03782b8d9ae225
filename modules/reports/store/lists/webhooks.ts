import { sql as text } from 'kysely';
import type { Sql } from '../../../../db/database.ts';
import type { RowOf } from '../../../../db/shown.ts';
import { both, columnsOf, workedOut } from '../../../../db/shown.ts';
import { run, tables } from '../../../../db/statement.ts';
import type { Span } from '../../../kernel/time/window.ts';
import type { Source } from '../../../paging/store/source.ts';
import { equals, isOneOf, isWithin } from '../../../paging/store/source.ts';

/** Which endpoints. */
export interface EndpointFilter {
  readonly id?: string;
  /** Those that fail now, or were switched off because they did. */
  readonly isFailing?: true;
}

const ENDPOINT = columnsOf('webhook_endpoint e', [
  'endpointId',
  'url',
  'channel',
  'eventTypes',
  'hostFilter',
  'profile',
  'description',
  'enabled',
  'disabledReason',
  'failuresInRow',
  'failingSince',
  'cooledUntil',
  'pausedUntil',
  'createdAt',
]);
/** A webhook endpoint as its owner sees it, and how healthy it is; never its secret. */
export type EndpointShown = RowOf<typeof ENDPOINT>;

/** Endpoints of a site that are not deleted. */
export const ENDPOINTS: Source<EndpointShown, EndpointFilter> = {
  columns: ENDPOINT,
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
};

/** Which events. */
export interface EventFilter {
  readonly id?: string;
  readonly type?: string | null | undefined;
  readonly host?: string | null | undefined;
  readonly window?: Span;
}

const EVENT = both(
  columnsOf('webhook_event v', ['eventId', 'type', 'host', 'createdAt']),
  workedOut<{ readonly detailed: string; readonly summary: string }>('v.detailed::text, v.summary::text'),
);
/** An event: the same id always carries the same data (invariant 8), here the JSON text of each profile's. */
export type EventRow = RowOf<typeof EVENT>;

/** Events of a site. */
export const EVENTS: Source<EventRow, EventFilter> = {
  columns: EVENT,
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
};

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
  const [row] = await run(
    sql,
    tables
      .selectFrom((from) => {
        const ofTenant = from.selectFrom('delivery as d').select('d.deliveryId').where('d.tenantId', '=', tenantId);
        const ofEndpoint = endpointId === null ? ofTenant : ofTenant.where('d.endpointId', '=', endpointId);
        return ofEndpoint.where(text.raw<boolean>(FAILING)).limit(most).as('failing');
      })
      .select(({ fn }) => fn.countAll<string>().as('count')),
  );
  return Number(row?.count ?? 0);
}

const DELIVERY = columnsOf('delivery d', [
  'deliveryId',
  'eventId',
  'endpointId',
  'redelivery',
  'state',
  'reason',
  'attempts',
  'dueAt',
  'createdAt',
  'decidedAt',
]);
/** One event for one endpoint. */
export type DeliveryShown = RowOf<typeof DELIVERY>;

/** Deliveries of a site; their ids begin with the time. */
export const DELIVERIES: Source<DeliveryShown, DeliveryFilter> = {
  columns: DELIVERY,
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
};

const ATTEMPT = columnsOf('delivery_attempt a', ['attempt', 'startedAt', 'durationMs', 'status', 'reason', 'responseStart']);
/** One try of a delivery. */
export type AttemptRow = RowOf<typeof ATTEMPT>;

/** Attempts of a site's deliveries. */
export const ATTEMPTS: Source<AttemptRow, object> = {
  columns: ATTEMPT,
  from: 'delivery_attempt a',
  tenant: 'a.tenant_id',
  id: { column: "(a.delivery_id || ':' || lpad(a.attempt::text, 5, '0'))", type: 'text' },
  orderings: { OLDEST: { column: 'a.started_at', type: 'timestamptz', direction: 'asc' } },
  keys: { delivery: { column: 'a.delivery_id', type: 'text' } },
  where: () => [],
};
