import type { Selectable } from 'kysely';
import { sql as text } from 'kysely';
import type { Sql } from '../../../db/database.ts';
import type { RowOf } from '../../../db/shown.ts';
import { both, columnsOf, workedOut } from '../../../db/shown.ts';
import { statement, tables } from '../../../db/statement.ts';
import type { Tables } from '../../../db/tables.ts';
import type { EventData, EventType, UnannouncedCrossing } from '../rules/event.ts';
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
  const rows = await sql.query<{ tenantId: string | null; host: string; oldest: Date; closedUntil: Date | null; now: Date }>(`
    with recursive open as (
      (select tenant_id, host, recorded_at from unannounced_crossing order by tenant_id, host, recorded_at limit 1)
      union all
      select next.tenant_id, next.host, next.recorded_at from open, lateral (
        select u.tenant_id, u.host, u.recorded_at from unannounced_crossing u
        where (u.tenant_id, u.host) > (open.tenant_id, open.host)
        order by u.tenant_id, u.host, u.recorded_at limit 1) next
    )
    select open.tenant_id as "tenantId", open.host, open.recorded_at as oldest,
      nullif(w.closed_until, '-infinity') as "closedUntil", clock_timestamp() as now
    from (select 1) one left join open on true left join event_window w using (tenant_id, host)`);
  const hosts = rows.flatMap(({ tenantId, host, oldest, closedUntil: closed }) =>
    tenantId === null ? [] : [{ tenantId, host, oldestMs: oldest.getTime(), closedUntilMs: closed?.getTime() ?? null }],
  );
  return { nowMs: rows[0]?.now.getTime() ?? 0, hosts };
}

interface Window {
  readonly tenantId: string;
  readonly host: string;
}

const beginWindows = statement<Window>()((place) =>
  tables
    .insertInto('event_window')
    .values({ tenantId: place('tenantId'), host: place('host') })
    .onConflict((conflict) => conflict.doNothing()),
);
const lockWindows = statement<Window>()((place) =>
  tables
    .selectFrom('event_window')
    .select('host')
    .where('tenantId', '=', place('tenantId'))
    .where('host', '=', place('host'))
    .forUpdate(),
);
const oldestOf = statement<Window>()((place) =>
  tables
    .selectFrom('event_window as w')
    .where('w.tenantId', '=', place('tenantId'))
    .where('w.host', '=', place('host'))
    .select(({ selectFrom }) =>
      selectFrom('unannounced_crossing as u')
        .select(({ fn }) => fn.min('u.recordedAt').as('oldest'))
        .whereRef('u.tenantId', '=', 'w.tenantId')
        .whereRef('u.host', '=', 'w.host')
        .as('oldest'),
    )
    .select([text<Date | null>`nullif(w.closed_until, '-infinity')`.as('closedUntil'), text<Date>`clock_timestamp()`.as('now')]),
);
const closeWindows = statement<Window & { closedUntil: Date }>()((place) =>
  tables
    .updateTable('event_window')
    .set({ closedUntil: place('closedUntil') })
    .where('tenantId', '=', place('tenantId'))
    .where('host', '=', place('host')),
);

/**
 * Locks a host's windows for the rest of the database transaction and reads them anew, with the oldest unannounced crossing;
 * null when there is none (any more).
 */
export async function lockWindow(
  sql: Sql,
  tenantId: string,
  host: string,
): Promise<(OpenHost & { readonly nowMs: number }) | null> {
  await beginWindows(sql, { tenantId, host });
  await lockWindows(sql, { tenantId, host });
  const [row] = await oldestOf(sql, { tenantId, host });
  if (row === undefined || row.oldest === null) return null;
  const closedUntilMs = row.closedUntil?.getTime() ?? null;
  return { tenantId, host, oldestMs: row.oldest.getTime(), closedUntilMs, nowMs: row.now.getTime() };
}

/** Says that the host's windows are closed up to `toMs`. */
export async function recordWindowClosed(sql: Sql, tenantId: string, host: string, toMs: number): Promise<void> {
  await closeWindows(sql, { tenantId, host, closedUntil: new Date(toMs) });
}

/** A leg as JSON shows it. */
type TakenLeg = Pick<Selectable<Tables['leg']>, 'ordinal' | 'toAddress' | 'amountMicro' | 'role' | 'authorId'>;

const TAKEN = both(
  both(
    columnsOf('crossing c', ['crossingId', 'paymentId', 'kind', 'sequence']),
    columnsOf('payment_state p', ['txHash', 'mode']),
  ),
  workedOut<{ readonly reverses: string | null; readonly legs: readonly TakenLeg[] | null }>(
    `case when c.sequence % 2 = 1 then coalesce((
         select shown ->> 'settlementRef' from crossing as stood
           join webhook_event_leg as told on told.tenant_id = $1 and told.crossing_id = stood.crossing_id and told.ordinal = 0
           join webhook_event as event on event.tenant_id = $1 and event.event_id = told.event_id
           cross join lateral jsonb_array_elements(event.detailed::jsonb -> 'legs') as shown
          where stood.tenant_id = $1 and stood.payment_id = c.payment_id and stood.sequence = c.sequence - 1
            and shown ->> 'receiptId' = c.payment_id::text and not shown ? 'reverses' limit 1), p.tx_hash) end as reverses,
       (select json_agg(json_build_object('ordinal', l.ordinal, 'toAddress', l.to_address, 'amountMicro', l.amount_micro::text,
           'role', l.role, 'authorId', l.author_id) order by l.ordinal)
        from leg l where l.tenant_id = $1 and l.crossing_id = c.crossing_id) as legs`,
  ),
);

/**
 * Takes the unannounced crossings recorded before `toMs`, oldest first, at most `MAX_CROSSINGS_AT_ONCE`, out of the outbox and reads
 * them with their legs and the reference that current evidence gives their payment. A row of the outbox is a list of crossings: what of
 * the last one does not fit stays.
 */
export async function takeUnannounced(sql: Sql, tenantId: string, host: string, toMs: number): Promise<UnannouncedCrossing[]> {
  const taken = await sql.query<RowOf<typeof TAKEN>>(
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
     select ${TAKEN.text}
     from taken t
     join crossing c on c.tenant_id = $1 and c.crossing_id = t.crossing_id
     join payment_state p on p.tenant_id = $1 and p.payment_id = c.payment_id
     order by c.recorded_at, c.crossing_id`,
    [tenantId, host, new Date(toMs), MAX_CROSSINGS_AT_ONCE],
  );
  return taken.map(toCrossing);
}

function toCrossing({ txHash, mode, sequence, legs, ...crossing }: RowOf<typeof TAKEN>): UnannouncedCrossing {
  return {
    ...crossing,
    isCorrection: sequence % 2 !== 0,
    settlementRef: txHash,
    settlementRefKind: settlementRefKind(txHash, mode),
    legs: (legs ?? []).map((leg) => ({ ...leg, amountMicro: BigInt(leg.amountMicro) })),
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

const storeEvent = statement<Omit<NewEvent, 'deliveries' | 'detailed' | 'summary'> & { detailed: string; summary: string }>()(
  (place) =>
    tables
      .insertInto('webhook_event')
      .values({
        tenantId: place('tenantId'),
        eventId: place('eventId'),
        type: place('type'),
        host: place('host'),
        // Text: JSON that goes through jsonb comes out in another order, and the bytes of a delivery are made of it.
        detailed: place('detailed'),
        summary: place('summary'),
        createdAt: text<Date>`clock_timestamp()`,
      })
      .onConflict((conflict) => conflict.doNothing()),
);

/**
 * Stores an event, its deliveries (one an endpoint, whatever is repeated) and wakes the dispatchers at commit. An event that is
 * stored already stays as it is.
 */
export async function insertEvent(sql: Sql, event: NewEvent): Promise<void> {
  await storeEvent(sql, { ...event, detailed: JSON.stringify(event.detailed), summary: JSON.stringify(event.summary) });
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

const enabledEndpoints = statement<{ tenantId: string }>()((place) =>
  tables
    .selectFrom('webhook_endpoint')
    .select(['endpointId', 'eventTypes', 'hostFilter', 'profile'])
    .where('tenantId', '=', place('tenantId'))
    .where('enabled', '=', true)
    .orderBy('endpointId'),
);

/** The enabled endpoints of a tenant, as far as choosing the receivers of an event needs them. */
export async function listEnabledEndpoints(
  sql: Sql,
  tenantId: string,
): Promise<readonly Readonly<Awaited<ReturnType<typeof enabledEndpoints>>[number]>[]> {
  return enabledEndpoints(sql, { tenantId });
}
