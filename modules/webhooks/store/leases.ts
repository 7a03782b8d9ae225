import { sql as text } from 'kysely';
import type { Sql } from '../../../db/database.ts';
import type { RowOf } from '../../../db/shown.ts';
import { both, columnsOf, workedOut } from '../../../db/shown.ts';
import { run, tables } from '../../../db/statement.ts';
import type { ChatEvent } from '../rules/chat.ts';
import type { Channel } from '../rules/endpoint.ts';
import type { EventType, Profile } from '../rules/event.ts';

/** A delivery we may send now: leased together with one of its endpoint's slots until `leased_until`. */
export interface LeasedDelivery {
  readonly tenantId: string;
  readonly deliveryId: string;
  readonly endpointId: string;
  readonly leaseId: string;
  readonly slot: number;
  /** The number of this attempt, from 1. */
  readonly attempt: number;
  /** The attempt after which its schedule began: 0, or where it was recovered. */
  readonly scheduleFrom: number;
  readonly url: string;
  readonly channel: Channel;
  readonly enabled: boolean;
  readonly type: EventType;
  /** What its bytes are made for. */
  readonly profile: Profile;
  /** The bytes; null for a chat message that has none yet. */
  readonly body: string | null;
  /** What a chat message is made of, while it has no bytes. */
  readonly chatEvent: ChatEvent | null;
  /** Valid secrets, sealed, as base64 text, the newest first. */
  readonly sealedSecrets: readonly string[];
}

/**
 * The bytes of a delivery: the envelope around the event's stored data. Every attempt makes the same ones, since nobody may change what
 * they are made of. Bytes that are stored stay: those of chat messages, which modules/webhooks/rules/chat.ts makes. `d` is the
 * delivery; `e` and `ev` are where the statement has the endpoint and the event.
 */
const bodyOf = (e: string, ev: string): string => `coalesce(d.body, case when ${e}.channel = 'raw' then
    '{"id":"' || d.delivery_id || '","type":"' || ${ev}.type || '","eventId":"' || ${ev}.event_id || '","createdAt":'
    || (extract(epoch from ${ev}.created_at) * 1000)::bigint || ',"data":'
    || (case d.profile when 'summary' then ${ev}.summary else ${ev}.detailed end)::text || '}' end)`;

/** What a delivery is leased with. */
const leasedColumns = (e: string, ev: string): string => `d.tenant_id, d.delivery_id, d.endpoint_id, d.attempts, d.schedule_from,
  d.profile, ${bodyOf(e, ev)} as body, ${e}.url, ${e}.channel, ${e}.enabled, ${ev}.type,
  case when d.body is null and ${e}.channel <> 'raw' then
    json_build_object('type', ${ev}.type, 'host', ${ev}.host, 'detailed', ${ev}.detailed, 'summary', ${ev}.summary) end as chat_event`;

/** Whether a slot of its endpoint that is not free names the delivery `d`. */
export const IS_LEASED = `exists (select from endpoint_lease named where named.tenant_id = d.tenant_id and named.endpoint_id = d.endpoint_id
  and named.delivery_id = d.delivery_id and named.leased_until > clock_timestamp())`;

/** Valid secrets of the endpoint of `d`, sealed, as base64 between spaces: text costs the driver far less than an array of bytes. */
const SEALED_SECRETS = `(select string_agg(encode(s.sealed, 'base64'), ' ' order by s.created_at desc, s.secret_id)
  from webhook_secret s where s.tenant_id = d.tenant_id and s.endpoint_id = d.endpoint_id
    and (s.expires_at is null or s.expires_at > now())) as secrets`;

/** A leased delivery `d`, of what `leasedColumns` gave it. */
const LEASED = both(
  both(
    both(
      columnsOf('delivery d', ['tenantId', 'deliveryId', 'endpointId', 'scheduleFrom', 'profile', 'body']),
      columnsOf('webhook_endpoint d', ['url', 'channel', 'enabled']),
    ),
    both(columnsOf('webhook_event d', ['type']), columnsOf('endpoint_lease d', ['slot'])),
  ),
  workedOut<{
    readonly leaseId: string;
    readonly attempt: number;
    readonly chatEvent: ChatEvent | null;
    readonly secrets: string | null;
  }>(`d.lease_id as "leaseId", d.attempts + 1 as attempt, d.chat_event as "chatEvent", ${SEALED_SECRETS}`),
);

/**
 * Leases up to `limit` deliveries of the buckets [from, to) for their first attempt, the oldest first, each with a free slot of
 * its endpoint. Endpoints are found by a loose index scan, so that a long queue of a slow one costs one probe; an endpoint
 * without a free slot, or one that cools or is paused, keeps its rows and uses no attempt. The slot says which delivery it is leased for: the
 * delivery's row is locked and not written. Both slots of an endpoint are locked, so that their newest rows say what is leased. Run it
 * in a database transaction.
 */
export async function leaseFirstAttempts(
  sql: Sql,
  range: { readonly from: number; readonly to: number },
  limit: number,
  leaseMs: number,
): Promise<LeasedDelivery[]> {
  const rows = await sql.query<RowOf<typeof LEASED>>(
    `with recursive waiting as (
       (select bucket, tenant_id, endpoint_id from delivery
        where state = 'pending' and not retrying and bucket >= (select $1::smallint) and bucket < (select $2::smallint) order by 1, 2, 3 limit 1)
       union all
       select next.bucket, next.tenant_id, next.endpoint_id from waiting w, lateral (
         select d.bucket, d.tenant_id, d.endpoint_id from delivery d
         where d.state = 'pending' and not d.retrying and d.bucket < (select $2::smallint)
           and (d.bucket, d.tenant_id, d.endpoint_id) > (w.bucket, w.tenant_id, w.endpoint_id)
         order by 1, 2, 3 limit 1) next
     ), slot as (
       select w.bucket, l.tenant_id, l.endpoint_id, l.slot, l.leased_until <= clock_timestamp() as is_free, l.delivery_id as named,
         e.url, e.channel, e.enabled, e.profile
       from waiting w join webhook_endpoint e using (tenant_id, endpoint_id) join endpoint_lease l using (tenant_id, endpoint_id)
       where e.cooled_until is null and (e.paused_until is null or e.paused_until <= clock_timestamp()) and exists (select from endpoint_lease free
         where free.tenant_id = w.tenant_id and free.endpoint_id = w.endpoint_id and free.leased_until <= clock_timestamp())
       for update of l skip locked
     ), numbered as (
       select *, row_number() over (partition by tenant_id, endpoint_id, is_free order by slot) as place,
         count(*) over (partition by tenant_id, endpoint_id) as locked,
         max(named) filter (where not is_free) over (partition by tenant_id, endpoint_id) as busy
       from slot
     ), pair as (
       select n.*, d.delivery_id from numbered n cross join lateral (
         select delivery_id from delivery
         where bucket = n.bucket and tenant_id = n.tenant_id and endpoint_id = n.endpoint_id
           and state = 'pending' and not retrying and delivery_id is distinct from n.busy
         order by delivery_id offset n.place - 1 limit 1) d
       where n.is_free and n.locked = 2
       order by d.delivery_id limit (select $3::integer)
     ), leased as (
       select t.slot, clock_timestamp() + $4 * interval '1 millisecond' as leased_until, gen_random_uuid() as lease_id,
         ${leasedColumns('t', 'ev')}
       from pair t join delivery d on d.tenant_id = t.tenant_id and d.delivery_id = t.delivery_id
         join webhook_event ev on ev.tenant_id = d.tenant_id and ev.event_id = d.event_id
       where d.state = 'pending' and not d.retrying
       for update of d skip locked
     ), slotted as (
       update endpoint_lease l set leased_until = d.leased_until, lease_id = d.lease_id, delivery_id = d.delivery_id
       from leased d where l.tenant_id = d.tenant_id and l.endpoint_id = d.endpoint_id and l.slot = d.slot
     )
     select ${LEASED.text} from leased d order by d.delivery_id`,
    [range.from, range.to, limit, leaseMs],
    'lease-first-attempts',
  );
  return rows.map(toLeased);
}

/** What leasing one delivery for a later attempt came to. */
export type RetryLease =
  | { readonly kind: 'leased'; readonly delivery: LeasedDelivery }
  /** This attempt is not to be made: it is recorded, the delivery has ended, or its endpoint is paused. */
  | { readonly kind: 'none' }
  /** No free slot, or an earlier attempt's lease still runs. */
  | { readonly kind: 'busy' };

/** Leases one delivery, that its endpoint's workflow drives, for attempt number `attempt`. Run it in a database transaction. */
export async function leaseRetry(
  sql: Sql,
  key: { readonly tenantId: string; readonly deliveryId: string; readonly attempt: number },
  leaseMs: number,
): Promise<RetryLease> {
  const locked = tables
    .selectFrom('delivery as d')
    .innerJoin('webhook_endpoint as e', (on) =>
      on.onRef('e.tenantId', '=', 'd.tenantId').onRef('e.endpointId', '=', 'd.endpointId'),
    )
    .where('d.tenantId', '=', key.tenantId)
    .where('d.deliveryId', '=', key.deliveryId)
    .select(['d.state', 'd.attempts', 'd.endpointId'])
    .select(text<boolean>`coalesce(e.paused_until > clock_timestamp(), false)`.as('paused'));
  const [row] = await run(sql, locked.forUpdate('d'));
  if (row === undefined || row.state !== 'pending' || row.attempts >= key.attempt || row.paused) return { kind: 'none' };
  const delivery = await leaseWithSlot(sql, { ...key, endpointId: row.endpointId }, leaseMs);
  return delivery === null ? { kind: 'busy' } : { kind: 'leased', delivery };
}

/**
 * Leases a delivery whose row the caller holds locked, together with a free slot of its endpoint; null when none is free. Run it in
 * the same database transaction.
 */
export async function leaseWithSlot(
  sql: Sql,
  key: { readonly tenantId: string; readonly endpointId: string; readonly deliveryId: string },
  leaseMs: number,
): Promise<LeasedDelivery | null> {
  const [leased] = await sql.query<RowOf<typeof LEASED>>(
    `with slotted as (
       update endpoint_lease l set leased_until = clock_timestamp() + $4 * interval '1 millisecond', lease_id = gen_random_uuid(),
         delivery_id = $3
       from delivery d
       where d.tenant_id = $1 and d.delivery_id = $3 and l.tenant_id = $1 and l.endpoint_id = $2 and not ${IS_LEASED}
         and l.slot = (select slot from endpoint_lease where tenant_id = $1 and endpoint_id = $2 and leased_until <= clock_timestamp()
           order by slot limit 1 for update skip locked)
       returning l.slot, l.lease_id
     ), leased as (
       select s.slot, s.lease_id, ${leasedColumns('e', 'ev')}
       from slotted s, delivery d join webhook_endpoint e using (tenant_id, endpoint_id)
         join webhook_event ev on ev.tenant_id = d.tenant_id and ev.event_id = d.event_id
       where d.tenant_id = $1 and d.delivery_id = $3
     )
     select ${LEASED.text} from leased d`,
    [key.tenantId, key.endpointId, key.deliveryId, leaseMs],
  );
  return leased === undefined ? null : toLeased(leased);
}

/** Stores the bytes of chat messages that had none; bytes that are stored never change. */
export async function freezeBodies(
  sql: Sql,
  bodies: readonly { readonly tenantId: string; readonly deliveryId: string; readonly body: string }[],
): Promise<void> {
  if (bodies.length === 0) return;
  await sql.query(
    `update delivery d set body = b.body
     from unnest($1::uuid[], $2::text[], $3::text[]) as b (tenant_id, delivery_id, body)
     where d.tenant_id = b.tenant_id and d.delivery_id = b.delivery_id and d.body is null`,
    [bodies.map(({ tenantId }) => tenantId), bodies.map(({ deliveryId }) => deliveryId), bodies.map(({ body }) => body)],
  );
}

function toLeased({ secrets, ...delivery }: RowOf<typeof LEASED>): LeasedDelivery {
  return { ...delivery, sealedSecrets: secrets?.split(' ') ?? [] };
}
