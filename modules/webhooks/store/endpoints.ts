import { raiseAlert } from '../../../db/alerts.ts';
import type { Sql, Transactional } from '../../../db/database.ts';
import { insertAlertMail } from '../../mail/store/mails.ts';
import type { Channel, EndpointSettings } from '../rules/endpoint.ts';
import { ENDPOINT_SLOTS } from '../rules/endpoint.ts';
import type { EventType, Profile } from '../rules/event.ts';

/** A new endpoint with its first secret, sealed. */
export interface NewEndpoint extends EndpointSettings {
  readonly tenantId: string;
  readonly endpointId: string;
  readonly secretId: string;
  readonly sealed: Buffer;
  /** Check value of the key it is sealed with. */
  readonly keyId: string;
}

/** What an insert came to: `full` when the tenant has `limit` endpoints, `no_tenant` when there is none of that id. */
export type EndpointInsert = 'inserted' | 'full' | 'no_tenant';

/** Stores an endpoint, its secret and its two slots, unless the tenant has `limit` endpoints; counted under the tenant's lock. */
export async function insertEndpoint(database: Transactional, endpoint: NewEndpoint, limit: number): Promise<EndpointInsert> {
  const { tenantId, endpointId, secretId, sealed, keyId, url, channel, eventTypes, hostFilter, profile, description } = endpoint;
  return await database.transaction(async (sql) => {
    const tenants = await sql.query('select 1 from tenant where tenant_id = $1 for no key update', [tenantId]);
    if (tenants.length === 0) return 'no_tenant';
    const rows = await sql.query(
      `insert into webhook_endpoint (tenant_id, endpoint_id, url, channel, event_types, host_filter, profile, description)
       select $1, $2, $3, $4, $5, $6, $7, $8
        where (select count(*) from webhook_endpoint where tenant_id = $1 and deleted_at is null) < $9 returning 1`,
      [tenantId, endpointId, url, channel, [...eventTypes], hostFilter && [...hostFilter], profile, description, limit],
    );
    if (rows.length === 0) return 'full';
    await sql.query(
      'insert into webhook_secret (tenant_id, endpoint_id, secret_id, sealed, key_id) values ($1, $2, $3, $4, $5)',
      [tenantId, endpointId, secretId, sealed, keyId],
    );
    await sql.query(
      'insert into endpoint_lease (tenant_id, endpoint_id, slot) select $1, $2, slot from unnest($3::smallint[]) as slot',
      [tenantId, endpointId, [...ENDPOINT_SLOTS]],
    );
    return 'inserted';
  });
}

/** Enables an endpoint and forgets its failures. False when there is none; a second call changes nothing. */
export async function enableEndpointRow(sql: Sql, tenantId: string, endpointId: string): Promise<boolean> {
  const rows = await sql.query(
    `update webhook_endpoint set enabled = true, disabled_reason = null, failures_in_row = 0, failing_since = null,
       exhausted_in_row = 0, cooled_until = null, updated_at = now()
     where tenant_id = $1 and endpoint_id = $2 and deleted_at is null returning 1`,
    [tenantId, endpointId],
  );
  return rows.length > 0;
}

/** Disables an enabled endpoint and ends its pause, since what waits there fails now. True when this call did it, null when there is no such endpoint. */
export async function disableEndpointRow(
  sql: Sql,
  tenantId: string,
  endpointId: string,
  reason: 'owner' | 'gone' | 'failing',
): Promise<boolean | null> {
  const [row] = await sql.query<{ changed: boolean }>(
    `with changed as (
       update webhook_endpoint set enabled = false, disabled_reason = $3, paused_until = null, updated_at = now()
       where tenant_id = $1 and endpoint_id = $2 and enabled returning 1
     )
     select exists (select 1 from changed) as changed from webhook_endpoint
     where tenant_id = $1 and endpoint_id = $2 and deleted_at is null`,
    [tenantId, endpointId, reason],
  );
  return row?.changed ?? null;
}

/** An endpoint that was just disabled because it only fails, and why. */
export interface FailingEndpoint {
  readonly tenantId: string;
  readonly endpointId: string;
  readonly detail: string;
}

/**
 * Disables those of the endpoints that have only failed for `failingDays`, or have `exhaustedInRow` exhausted deliveries in a
 * row; returns the ones this call disabled.
 */
export async function disableFailingRows(
  sql: Sql,
  endpoints: readonly { readonly tenantId: string; readonly endpointId: string }[],
  after: { readonly failingDays: number; readonly exhaustedInRow: number },
): Promise<FailingEndpoint[]> {
  const rows = await sql.query<{ tenant_id: string; endpoint_id: string; exhausted: number; days: number }>(
    `update webhook_endpoint e set enabled = false, disabled_reason = 'failing', paused_until = null, updated_at = now()
     from (select distinct * from unnest($1::uuid[], $2::uuid[]) as k (tenant_id, endpoint_id)) k
     where e.tenant_id = k.tenant_id and e.endpoint_id = k.endpoint_id and e.enabled
       and (e.failing_since <= clock_timestamp() - $3 * interval '1 day' or e.exhausted_in_row >= $4)
     returning e.tenant_id, e.endpoint_id, e.exhausted_in_row as exhausted,
       floor(extract(epoch from clock_timestamp() - e.failing_since) / 86400)::integer as days`,
    [
      endpoints.map(({ tenantId }) => tenantId),
      endpoints.map(({ endpointId }) => endpointId),
      after.failingDays,
      after.exhaustedInRow,
    ],
  );
  return rows.map((row) => ({
    tenantId: row.tenant_id,
    endpointId: row.endpoint_id,
    detail:
      row.exhausted >= after.exhaustedInRow
        ? `${row.exhausted} deliveries in a row were given up`
        : `every attempt of the last ${row.days} days failed`,
  }));
}

/** Tells the operator, and the owner by e-mail where there is an address, that we disabled an endpoint. */
export async function raiseDisabledAlert(sql: Sql, tenantId: string, endpointId: string, detail: string): Promise<void> {
  const alertId = await raiseAlert(sql, 'webhook_endpoint_disabled', `endpoint ${endpointId}: ${detail}`, tenantId);
  await insertAlertMail(sql, {
    tenantId,
    mailId: `alert_${alertId}`,
    subject: 'A webhook endpoint was disabled',
    detail: `Webhook endpoint ${endpointId} was disabled: ${detail}. Enable it again once the receiver works.`,
  });
}

/** An endpoint as its owner sees it. */
export interface EndpointRow {
  readonly endpointId: string;
  readonly channel: Channel;
  readonly url: string;
  readonly eventTypes: EventType[];
  readonly hostFilter: string[] | null;
  readonly profile: Profile;
  readonly description: string;
  readonly enabled: boolean;
  readonly disabledReason: 'owner' | 'gone' | 'failing' | null;
  readonly failuresInRow: number;
  readonly createdAt: Date;
}

const ENDPOINT_COLUMNS = `endpoint_id as "endpointId", channel, url, event_types as "eventTypes", host_filter as "hostFilter",
  profile, description, enabled, disabled_reason as "disabledReason", failures_in_row as "failuresInRow", created_at as "createdAt"`;

/** Locks an endpoint for the rest of the database transaction; null when there is none. */
export async function lockEndpoint(sql: Sql, tenantId: string, endpointId: string): Promise<EndpointRow | null> {
  const [row] = await sql.query<EndpointRow>(
    `select ${ENDPOINT_COLUMNS} from webhook_endpoint
     where tenant_id = $1 and endpoint_id = $2 and deleted_at is null for update`,
    [tenantId, endpointId],
  );
  return row ?? null;
}

/** What an owner may change of an endpoint. */
export type EndpointChanges = Pick<EndpointSettings, 'profile' | 'eventTypes' | 'hostFilter' | 'description'>;

/** Stores the settings of an endpoint anew. */
export async function updateEndpointRow(sql: Sql, tenantId: string, endpointId: string, to: EndpointChanges): Promise<void> {
  await sql.query(
    `update webhook_endpoint set profile = $3, event_types = $4, host_filter = $5, description = $6, updated_at = now()
     where tenant_id = $1 and endpoint_id = $2`,
    [tenantId, endpointId, to.profile, [...to.eventTypes], to.hostFilter === null ? null : [...to.hostFilter], to.description],
  );
}

/** Takes an endpoint out of sight for good and ends its pause; its open deliveries fail. False when there is none. */
export async function deleteEndpointRow(sql: Sql, tenantId: string, endpointId: string): Promise<boolean> {
  const rows = await sql.query(
    `update webhook_endpoint set enabled = false, disabled_reason = 'owner', paused_until = null, deleted_at = now(), updated_at = now()
     where tenant_id = $1 and endpoint_id = $2 and deleted_at is null returning 1`,
    [tenantId, endpointId],
  );
  return rows.length > 0;
}
