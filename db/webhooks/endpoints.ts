import { LockMode } from '@mikro-orm/core';
import type { EndpointSettings } from '../../domain/webhook/endpoint.ts';
import { ENDPOINT_SLOTS } from '../../domain/webhook/endpoint.ts';
import type { Database, Sql } from '../database.ts';
import { Tenant } from '../entities/tenant.ts';
import { EndpointLease, WebhookEndpoint, WebhookSecret } from '../entities/webhook.ts';

/** A new endpoint with its first secret, sealed. */
export interface NewEndpoint extends EndpointSettings {
  readonly tenantId: string;
  readonly endpointId: string;
  readonly secretId: string;
  readonly sealed: Buffer;
}

/** What an insert came to: `full` when the tenant has `limit` endpoints, `no_tenant` when there is none of that id. */
export type EndpointInsert = 'inserted' | 'full' | 'no_tenant';

/** Stores an endpoint, its secret and its two slots, unless the tenant has `limit` endpoints; counted under the tenant's lock. */
export async function insertEndpoint(database: Database, endpoint: NewEndpoint, limit: number): Promise<EndpointInsert> {
  const { tenantId, endpointId, secretId, sealed, ...settings } = endpoint;
  return await database.orm.em.fork().transactional(async (em) => {
    const tenant = await em.findOne(Tenant, { tenantId }, { lockMode: LockMode.PESSIMISTIC_WRITE, fields: ['tenantId'] });
    if (tenant === null) return 'no_tenant';
    if ((await em.count(WebhookEndpoint, { tenantId })) >= limit) return 'full';
    const { eventTypes, hostFilter, ...rest } = settings;
    await em.insert(WebhookEndpoint, {
      tenantId,
      endpointId,
      ...rest,
      eventTypes: [...eventTypes],
      hostFilter: hostFilter === null ? null : [...hostFilter],
    });
    await em.insert(WebhookSecret, { tenantId, endpointId, secretId, sealed });
    await em.insertMany(
      EndpointLease,
      ENDPOINT_SLOTS.map((slot) => ({ tenantId, endpointId, slot })),
    );
    return 'inserted';
  });
}

/** Enables an endpoint and forgets its failures. False when there is none; a second call changes nothing. */
export async function enableEndpointRow(sql: Sql, tenantId: string, endpointId: string): Promise<boolean> {
  const rows = await sql.query(
    `update webhook_endpoint set enabled = true, disabled_reason = null, failures_in_row = 0, failing_since = null,
       exhausted_in_row = 0, cooled_until = null, updated_at = now()
     where tenant_id = $1 and endpoint_id = $2 returning 1`,
    [tenantId, endpointId],
  );
  return rows.length > 0;
}

/** Disables an enabled endpoint. True when this call did it, null when there is no such endpoint. */
export async function disableEndpointRow(
  sql: Sql,
  tenantId: string,
  endpointId: string,
  reason: 'owner' | 'gone' | 'failing',
): Promise<boolean | null> {
  const [row] = await sql.query<{ changed: boolean }>(
    `with changed as (
       update webhook_endpoint set enabled = false, disabled_reason = $3, updated_at = now()
       where tenant_id = $1 and endpoint_id = $2 and enabled returning 1
     )
     select exists (select 1 from changed) as changed from webhook_endpoint where tenant_id = $1 and endpoint_id = $2`,
    [tenantId, endpointId, reason],
  );
  return row?.changed ?? null;
}

/** Tells the operator, and through them the owner, that we disabled an endpoint. */
export async function raiseDisabledAlert(sql: Sql, tenantId: string, endpointId: string, detail: string): Promise<void> {
  await sql.query(
    `insert into operator_alert (alert_id, tenant_id, kind, detail) values (gen_random_uuid(), $1, 'webhook_endpoint_disabled', $2)`,
    [tenantId, `endpoint ${endpointId}: ${detail}`],
  );
}
