import type { InferResult } from 'kysely';
import { sql as text } from 'kysely';
import { raiseAlert } from '../../../db/alerts.ts';
import type { Sql, Transactional } from '../../../db/database.ts';
import type { RowOf } from '../../../db/shown.ts';
import { both, columnsOf, workedOut } from '../../../db/shown.ts';
import { run, tables } from '../../../db/statement.ts';
import { insertAlertMail } from '../../mail/store/mails.ts';
import type { EndpointSettings } from '../rules/endpoint.ts';
import { ENDPOINT_SLOTS } from '../rules/endpoint.ts';

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
  const { secretId, sealed, keyId, ...row } = endpoint;
  const { tenantId, endpointId } = endpoint;
  return await database.transaction(async (sql) => {
    const tenant = tables.selectFrom('tenant').select('tenantId').where('tenantId', '=', tenantId);
    if ((await run(sql, tenant.forNoKeyUpdate())).length === 0) return 'no_tenant';
    const kept = tables.selectFrom('webhook_endpoint').select('endpointId').where('tenantId', '=', tenantId);
    if ((await run(sql, kept.where('deletedAt', 'is', null).limit(limit))).length >= limit) return 'full';
    await run(sql, tables.insertInto('webhook_endpoint').values(row));
    await run(sql, tables.insertInto('webhook_secret').values({ tenantId, endpointId, secretId, sealed, keyId }));
    const slots = ENDPOINT_SLOTS.map((slot) => ({ tenantId, endpointId, slot }));
    await run(sql, tables.insertInto('endpoint_lease').values(slots));
    return 'inserted';
  });
}

const change = (tenantId: string, endpointId: string) =>
  tables
    .updateTable('webhook_endpoint')
    .set({ updatedAt: text`now()` })
    .where('tenantId', '=', tenantId)
    .where('endpointId', '=', endpointId);

/** What an endpoint without failures has. */
const SOUND = { failuresInRow: 0, failingSince: null, exhaustedInRow: 0, cooledUntil: null };

/** Enables an endpoint and forgets its failures. False when there is none; a second call changes nothing. */
export async function enableEndpointRow(sql: Sql, tenantId: string, endpointId: string): Promise<boolean> {
  const enabled = change(tenantId, endpointId).set({ enabled: true, disabledReason: null, ...SOUND });
  return (await run(sql, enabled.where('deletedAt', 'is', null).returning('endpointId'))).length > 0;
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

const FAILING = both(
  columnsOf('webhook_endpoint e', ['tenantId', 'endpointId', 'exhaustedInRow']),
  workedOut<{ readonly days: number }>('floor(extract(epoch from clock_timestamp() - e.failing_since) / 86400)::integer as days'),
);

/**
 * Disables those of the endpoints that have only failed for `failingDays`, or have `exhaustedInRow` exhausted deliveries in a
 * row; returns the ones this call disabled.
 */
export async function disableFailingRows(
  sql: Sql,
  endpoints: readonly { readonly tenantId: string; readonly endpointId: string }[],
  after: { readonly failingDays: number; readonly exhaustedInRow: number },
): Promise<FailingEndpoint[]> {
  const rows = await sql.query<RowOf<typeof FAILING>>(
    `update webhook_endpoint e set enabled = false, disabled_reason = 'failing', paused_until = null, updated_at = now()
     from (select distinct * from unnest($1::uuid[], $2::uuid[]) as k (tenant_id, endpoint_id)) k
     where e.tenant_id = k.tenant_id and e.endpoint_id = k.endpoint_id and e.enabled
       and (e.failing_since <= clock_timestamp() - $3 * interval '1 day' or e.exhausted_in_row >= $4)
     returning ${FAILING.text}`,
    [
      endpoints.map(({ tenantId }) => tenantId),
      endpoints.map(({ endpointId }) => endpointId),
      after.failingDays,
      after.exhaustedInRow,
    ],
  );
  return rows.map(({ exhaustedInRow, days, ...endpoint }) => ({
    ...endpoint,
    detail:
      exhaustedInRow >= after.exhaustedInRow
        ? `${exhaustedInRow} deliveries in a row were given up`
        : `every attempt of the last ${days} days failed`,
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

const endpointOf = (tenantId: string, endpointId: string) =>
  tables
    .selectFrom('webhook_endpoint')
    .select(['endpointId', 'channel', 'url', 'eventTypes', 'hostFilter', 'profile', 'description', 'enabled'])
    .select(['disabledReason', 'failuresInRow', 'createdAt'])
    .where('tenantId', '=', tenantId)
    .where('endpointId', '=', endpointId)
    .where('deletedAt', 'is', null);

/** An endpoint as its owner sees it. */
export type EndpointRow = Readonly<InferResult<ReturnType<typeof endpointOf>>[number]>;

/** Locks an endpoint for the rest of the database transaction; null when there is none. */
export async function lockEndpoint(sql: Sql, tenantId: string, endpointId: string): Promise<EndpointRow | null> {
  return (await run(sql, endpointOf(tenantId, endpointId).forUpdate()))[0] ?? null;
}

/** What an owner may change of an endpoint. */
export type EndpointChanges = Pick<EndpointSettings, 'profile' | 'eventTypes' | 'hostFilter' | 'description'>;

/** Stores the settings of an endpoint anew. */
export async function updateEndpointRow(sql: Sql, tenantId: string, endpointId: string, to: EndpointChanges): Promise<void> {
  await run(sql, change(tenantId, endpointId).set(to));
}

/** Takes an endpoint out of sight for good and ends its pause; its open deliveries fail. False when there is none. */
export async function deleteEndpointRow(sql: Sql, tenantId: string, endpointId: string): Promise<boolean> {
  const gone = change(tenantId, endpointId).set({
    enabled: false,
    disabledReason: 'owner',
    pausedUntil: null,
    deletedAt: text`now()`,
  });
  return (await run(sql, gone.where('deletedAt', 'is', null).returning('endpointId'))).length > 0;
}
