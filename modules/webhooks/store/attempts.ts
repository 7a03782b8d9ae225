import type { Sql } from '../../../db/database.ts';
import type { Profile } from '../rules/event.ts';
import type { EndpointRef } from './receiver.ts';

/** The end of one attempt, ready to be written. */
export interface AttemptRecord {
  readonly tenantId: string;
  readonly deliveryId: string;
  readonly endpointId: string;
  readonly leaseId: string;
  readonly slot: number;
  readonly attempt: number;
  /** What its bytes were made for: later attempts make the same. */
  readonly profile: Profile;
  readonly startedAtMs: number;
  readonly durationMs: number;
  readonly status: number | null;
  /** Null: delivered. */
  readonly reason: string | null;
  readonly responseStart: string;
  readonly state: 'pending' | 'delivered' | 'failed' | 'exhausted';
  /** When the next attempt is due; with `pending` only. */
  readonly dueAtMs: number | null;
  /** Whether the endpoint's health takes notice. */
  readonly counts: boolean;
  /** The receiver said 410: the endpoint is disabled. */
  readonly isGone: boolean;
}

/** Failed attempts in a row from which an endpoint cools (safety 21). */
const COOLS_AT = 10;

/** What was written: the ids of deliveries, and the endpoints that cool from now on. */
export interface WrittenAttempts {
  readonly written: ReadonlySet<string>;
  readonly cooled: readonly EndpointRef[];
}

/**
 * Writes the ends of attempts in one statement: state, log, the slot, the endpoint's health. A process that has lost the lease
 * meanwhile writes nothing, unless it delivered. A success ends an endpoint's cooling. Run it in a database transaction.
 */
export async function recordAttempts(sql: Sql, records: readonly AttemptRecord[]): Promise<WrittenAttempts> {
  const rows = await sql.query<EndpointRef & { readonly lostId: string | null }>(
    `with result as (
       select * from json_to_recordset($1) as r ("tenantId" uuid, "deliveryId" text, "endpointId" uuid, "leaseId" uuid,
         slot smallint, attempt smallint, "startedAtMs" double precision, "durationMs" integer, status smallint, reason text,
         "responseStart" text, state text, "dueAtMs" double precision, counts boolean, profile text)
     ), freed as (
       update endpoint_lease l set leased_until = '-infinity', lease_id = null, delivery_id = null
       from result r where l.tenant_id = r."tenantId" and l.endpoint_id = r."endpointId" and l.slot = r.slot
         and l.lease_id = r."leaseId"
       returning r."leaseId"
     ), written as (
       update delivery d set state = r.state, reason = r.reason, attempts = greatest(d.attempts, r.attempt),
         retrying = d.retrying or r.state = 'pending',
         due_at = coalesce(to_timestamp(r."dueAtMs" / 1000), d.due_at),
         decided_at = case when r.state <> 'pending' then clock_timestamp() end
       from result r where d.tenant_id = r."tenantId" and d.delivery_id = r."deliveryId" and d.state = 'pending'
         and (r.state = 'delivered' or (r."leaseId" in (select "leaseId" from freed) and not exists (
           select from endpoint_lease other where other.tenant_id = r."tenantId" and other.endpoint_id = r."endpointId"
             and other.delivery_id = r."deliveryId" and other.slot <> r.slot and other.leased_until > clock_timestamp())))
       returning r."tenantId", r."deliveryId", r."endpointId", r.attempt, r."startedAtMs", r."durationMs", r.status, r.reason,
         r."responseStart", r.state, r.counts
     ), logged as (
       insert into delivery_attempt (tenant_id, delivery_id, attempt, started_at, duration_ms, status, reason, response_start)
       select "tenantId", "deliveryId", attempt, to_timestamp("startedAtMs" / 1000), "durationMs", status, reason, "responseStart"
       from written on conflict do nothing
     ), health as (
       select "tenantId", "endpointId", bool_or(state = 'delivered') as delivered,
         count(*) filter (where state <> 'delivered' and counts) as failures, count(*) filter (where state = 'exhausted') as exhausted
       from written group by 1, 2
     ), judged as (
       update webhook_endpoint e set
         failures_in_row = case when h.delivered then 0 else e.failures_in_row + h.failures end,
         failing_since = case when h.delivered then null else coalesce(e.failing_since, clock_timestamp()) end,
         exhausted_in_row = case when h.delivered then 0 else e.exhausted_in_row + h.exhausted end,
         cooled_until = case when h.delivered then null when e.failures_in_row + h.failures < $2 then e.cooled_until
           else coalesce(e.cooled_until, clock_timestamp()) end
       from health h where e.tenant_id = h."tenantId" and e.endpoint_id = h."endpointId"
         and (h.failures > 0 or (h.delivered and (e.failures_in_row > 0 or e.exhausted_in_row > 0)))
       returning e.tenant_id, e.endpoint_id, old.cooled_until is null and new.cooled_until is not null as cools
     )
     select "deliveryId" as "lostId", "tenantId", "endpointId" from result
     where "deliveryId" not in (select "deliveryId" from written)
     union all select null, tenant_id, endpoint_id from judged where cools`,
    [JSON.stringify(records), COOLS_AT],
    'record-attempts',
  );
  const lost = new Set(rows.map(({ lostId }) => lostId));
  return {
    written: new Set(records.flatMap(({ deliveryId }) => (lost.has(deliveryId) ? [] : [deliveryId]))),
    cooled: rows.flatMap(({ lostId, ...endpoint }) => (lostId === null ? [endpoint] : [])),
  };
}
