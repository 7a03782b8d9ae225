import type { Sql } from '../database.ts';
import { moveTenantVersion } from '../tenants/tenants.ts';
import { recordLapse } from './hosts.ts';

/** A host of a site as the audit log shows it, without its challenge's token. */
export interface HostState {
  readonly verified: boolean;
  readonly challenge: { readonly state: string; readonly method: string } | null;
}

/** What a site has of a host; null when it neither proved it nor opened a challenge. */
export async function findHostState(sql: Sql, tenantId: string, host: string): Promise<HostState | null> {
  const [row] = await sql.query<{ verified: boolean; state: string | null; method: string | null }>(
    `select coalesce(owned.verified_at is not null, false) as verified, challenge.state, challenge.method
       from (select $1::uuid as tenant_id, $2::text as host) as asked
       left join tenant_host as owned using (tenant_id, host)
       left join host_challenge as challenge using (tenant_id, host)
      where owned.host is not null or challenge.host is not null`,
    [tenantId, host],
  );
  if (row === undefined) return null;
  return { verified: row.verified, challenge: row.state === null ? null : { state: row.state, method: row.method ?? '' } };
}

/**
 * Removes a host from a site: claim, ownership, challenge, and what the routing probe saw. A host that was proven can be proven by
 * DNS alone for 72 hours, whoever asks, as after a lapse. False when the site has no such host. Run it in a database transaction.
 */
export async function removeHostRows(sql: Sql, tenantId: string, host: string, at: Date): Promise<boolean> {
  await sql.query('select 1 from tenant where tenant_id = $1 for no key update', [tenantId]);
  const state = await findHostState(sql, tenantId, host);
  if (state === null) return false;
  await sql.query('delete from host_challenge where tenant_id = $1 and host = $2', [tenantId, host]);
  await sql.query('delete from tenant_host where tenant_id = $1 and host = $2', [tenantId, host]);
  const claims = await sql.query('delete from host_claim where host = $1 and tenant_id = $2 returning 1', [host, tenantId]);
  if (claims.length > 0) await recordLapse(sql, { tenantId, host, at });
  await moveTenantVersion(sql, tenantId, at);
  return true;
}
