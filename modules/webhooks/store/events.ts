import type { Sql } from '../../../db/database.ts';
import type { LegRole } from '../../kernel/money/legs.ts';
import type { CrossingKind } from '../../kernel/terms.ts';
import type { EventData, EventType, Profile, UnannouncedCrossing } from '../rules/event.ts';
import { MAX_CROSSINGS_AT_ONCE, settlementRefKind } from '../rules/event.ts';

/** The channel that is notified, after the commit, when deliveries wait for their first attempt. */
export const DELIVERY_CHANNEL = 'webhook_delivery';

/** A host with unannounced crossings; times are the database's, in epoch ms. */
export interface OpenHost {
  readonly tenantId: string;
  readonly host: string;
  readonly oldestMs: number;
  readonly closedUntilMs: number | null;
}

/** Every host that has unannounced crossings, with the oldest one's time: one index probe a host (loose index scan). */
export async function listOpenHosts(sql: Sql): Promise<{ readonly nowMs: number; readonly hosts: readonly OpenHost[] }> {
  const rows = await sql.query<{ tenant_id: string | null; host: string; oldest: Date; closed_until: Date | null; now: Date }>(`
    with recursive open as (
      (select tenant_id, host, recorded_at from unannounced_crossing order by tenant_id, host, recorded_at limit 1)
      union all
      select next.tenant_id, next.host, next.recorded_at from open, lateral (
        select u.tenant_id, u.host, u.recorded_at from unannounced_crossing u
        where (u.tenant_id, u.host) > (open.tenant_id, open.host)
        order by u.tenant_id, u.host, u.recorded_at limit 1) next
    )
    select open.tenant_id, open.host, open.recorded_at as oldest,
      nullif(w.closed_until, '-infinity') as closed_until, clock_timestamp() as now
    from (select 1) one left join open on true left join event_window w using (tenant_id, host)`);
  const hosts = rows.flatMap(({ tenant_id: tenantId, host, oldest, closed_until: closed }) =>
    tenantId === null ? [] : [{ tenantId, host, oldestMs: oldest.getTime(), closedUntilMs: closed?.getTime() ?? null }],
  );
  return { nowMs: rows[0]?.now.getTime() ?? 0, hosts };
}

/**
 * Locks a host's windows for the rest of the database transaction and reads them anew, with the oldest unannounced crossing;
 * null when there is none (any more).
 */
export async function lockWindow(
  sql: Sql,
  tenantId: string,
  host: string,
): Promise<(OpenHost & { readonly nowMs: number }) | null> {
  await sql.query('insert into event_window (tenant_id, host) values ($1, $2) on conflict do nothing', [tenantId, host]);
  await sql.query('select 1 from event_window where tenant_id = $1 and host = $2 for update', [tenantId, host]);
  const [row] = await sql.query<{ oldest: Date | null; closed_until: Date | null; now: Date }>(
    `select (select min(recorded_at) from unannounced_crossing where tenant_id = $1 and host = $2) as oldest,
       nullif(closed_until, '-infinity') as closed_until, clock_timestamp() as now
     from event_window where tenant_id = $1 and host = $2`,
    [tenantId, host],
  );
  if (row === undefined || row.oldest === null) return null;
  const closedUntilMs = row.closed_until?.getTime() ?? null;
  return { tenantId, host, oldestMs: row.oldest.getTime(), closedUntilMs, nowMs: row.now.getTime() };
}

/** Says that the host's windows are closed up to `toMs`. */
export async function recordWindowClosed(sql: Sql, tenantId: string, host: string, toMs: number): Promise<void> {
  await sql.query('update event_window set closed_until = $3 where tenant_id = $1 and host = $2', [
    tenantId,
    host,
    new Date(toMs),
  ]);
}

/**
 * Takes the unannounced crossings recorded before `toMs`, oldest first, at most `MAX_CROSSINGS_AT_ONCE`, out of the outbox and reads
 * them with their legs and the reference that current evidence gives their payment. A row of the outbox is a list of crossings: what of
 * the last one does not fit stays.
 */
export async function takeUnannounced(sql: Sql, tenantId: string, host: string, toMs: number): Promise<UnannouncedCrossing[]> {
  const taken = await sql.query<CrossingRow>(
    `with open as (
       select crossing_id, recorded_at, crossing_ids as ids from unannounced_crossing
        where tenant_id = $1 and host = $2 and recorded_at < $3 order by recorded_at, crossing_id limit $4 for update
     ), line as (
       select *, $4 - sum(cardinality(ids)) over (order by recorded_at, crossing_id) + cardinality(ids) as room from open
     ), member as (
       select crossing_id, recorded_at, ids[:room] as ids, ids[room + 1:] as rest
         from (select crossing_id, recorded_at, ids, room::int from line where room > 0) as fits
     ), gone as (
       delete from unannounced_crossing u using member m where u.tenant_id = $1 and u.crossing_id = m.crossing_id
     ), left_over as (
       insert into unannounced_crossing (tenant_id, crossing_id, host, recorded_at, crossing_ids)
       select $1, rest[1], $2, recorded_at, rest from member where cardinality(rest) > 0
     ), taken as (
       select unnest(ids) as crossing_id from member
     )
     select c.crossing_id, c.payment_id, c.kind, c.sequence, c.recorded_at, p.tx_hash, p.mode,
       case when c.sequence % 2 = 1 then coalesce((
         select shown ->> 'settlementRef' from crossing as stood
           join webhook_event_leg as told on told.tenant_id = $1 and told.crossing_id = stood.crossing_id and told.ordinal = 0
           join webhook_event as event on event.tenant_id = $1 and event.event_id = told.event_id
           cross join lateral jsonb_array_elements(event.detailed::jsonb -> 'legs') as shown
          where stood.tenant_id = $1 and stood.payment_id = c.payment_id and stood.sequence = c.sequence - 1
            and shown ->> 'receiptId' = c.payment_id::text and not shown ? 'reverses' limit 1), p.tx_hash) end as reverses,
       (select json_agg(json_build_object('ordinal', l.ordinal, 'toAddress', l.to_address, 'amountMicro', l.amount_micro::text,
           'role', l.role, 'authorId', l.author_id) order by l.ordinal)
        from leg l where l.tenant_id = $1 and l.crossing_id = c.crossing_id) as legs
     from taken t
     join crossing c on c.tenant_id = $1 and c.crossing_id = t.crossing_id
     join payment_state p on p.tenant_id = $1 and p.payment_id = c.payment_id
     order by c.recorded_at, c.crossing_id`,
    [tenantId, host, new Date(toMs), MAX_CROSSINGS_AT_ONCE],
  );
  return taken.map(toCrossing);
}

interface CrossingRow {
  readonly crossing_id: string;
  readonly payment_id: string;
  readonly reverses: string | null;
  readonly kind: CrossingKind;
  readonly sequence: number;
  readonly tx_hash: string | null;
  readonly mode: 'live' | 'mock';
  readonly legs: readonly LegRow[] | null;
}

interface LegRow {
  readonly ordinal: number;
  readonly toAddress: string;
  readonly amountMicro: string;
  readonly role: LegRole;
  readonly authorId: string | null;
}

function toCrossing(row: CrossingRow): UnannouncedCrossing {
  return {
    crossingId: row.crossing_id,
    paymentId: row.payment_id,
    reverses: row.reverses,
    kind: row.kind,
    isCorrection: row.sequence % 2 !== 0,
    settlementRef: row.tx_hash,
    settlementRefKind: settlementRefKind(row.tx_hash, row.mode),
    legs: (row.legs ?? []).map((leg) => ({ ...leg, amountMicro: BigInt(leg.amountMicro) })),
  };
}

/** A new event and who gets it. */
export interface NewEvent extends EventData {
  readonly tenantId: string;
  readonly eventId: string;
  readonly type: EventType;
  readonly host: string | null;
  readonly deliveries: readonly { readonly deliveryId: string; readonly endpointId: string; readonly bucket: number }[];
}

/**
 * Stores an event, its deliveries (one an endpoint, whatever is repeated) and wakes the dispatchers at commit. An event that is
 * stored already stays as it is.
 */
export async function insertEvent(sql: Sql, event: NewEvent): Promise<void> {
  await sql.query(
    `insert into webhook_event (tenant_id, event_id, type, host, detailed, summary, created_at)
     values ($1, $2, $3, $4, $5, $6, clock_timestamp()) on conflict do nothing`,
    [event.tenantId, event.eventId, event.type, event.host, JSON.stringify(event.detailed), JSON.stringify(event.summary)],
  );
  if (event.deliveries.length === 0) return;
  await sql.query(
    `insert into delivery (tenant_id, delivery_id, event_id, endpoint_id, bucket, profile)
     select $1, d."deliveryId", $2, d."endpointId", d.bucket, e.profile
     from json_to_recordset($3) as d ("deliveryId" text, "endpointId" uuid, bucket smallint)
       join webhook_endpoint e on e.tenant_id = $1 and e.endpoint_id = d."endpointId" on conflict do nothing`,
    [event.tenantId, event.eventId, JSON.stringify(event.deliveries)],
  );
  await sql.query(`select pg_notify('${DELIVERY_CHANNEL}', '')`);
}

/** Records which legs an event announces. Throws (unique) when one was announced before. */
export async function recordEventLegs(
  sql: Sql,
  tenantId: string,
  eventId: string,
  crossings: readonly UnannouncedCrossing[],
): Promise<void> {
  const legs = crossings.flatMap(({ crossingId, legs: own }) => own.map(({ ordinal }) => ({ crossingId, ordinal })));
  await sql.query(
    `insert into webhook_event_leg (tenant_id, crossing_id, ordinal, event_id)
     select $1, m."crossingId", m.ordinal, $2 from json_to_recordset($3) as m ("crossingId" uuid, ordinal smallint)`,
    [tenantId, eventId, JSON.stringify(legs)],
  );
}

/** The enabled endpoints of a tenant, as far as choosing the receivers of an event needs them. */
export async function listEnabledEndpoints(
  sql: Sql,
  tenantId: string,
): Promise<
  {
    readonly endpointId: string;
    readonly eventTypes: EventType[];
    readonly hostFilter: string[] | null;
    readonly profile: Profile;
  }[]
> {
  return await sql.query(
    `select endpoint_id as "endpointId", event_types as "eventTypes", host_filter as "hostFilter", profile
     from webhook_endpoint where tenant_id = $1 and enabled order by endpoint_id`,
    [tenantId],
  );
}
