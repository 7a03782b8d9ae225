import type { Sql } from '../../../db/database.ts';
import { run, tables } from '../../../db/statement.ts';
import { lockTenant, moveTenantVersion } from '../../tenants/store/tenants.ts';
import { recordLapse } from './hosts.ts';

/** A host of a site as the audit log shows it, without its challenge's token. */
export interface HostState {
  readonly verified: boolean;
  readonly challenge: { readonly state: string; readonly method: string } | null;
}

/** What a site has of a host; null when it neither proved it nor opened a challenge. */
export async function findHostState(sql: Sql, tenantId: string, host: string): Promise<HostState | null> {
  const [owned] = await run(
    sql,
    tables.selectFrom('tenant_host').select('verifiedAt').where('tenantId', '=', tenantId).where('host', '=', host),
  );
  const [challenge] = await run(
    sql,
    tables.selectFrom('host_challenge').select(['state', 'method']).where('tenantId', '=', tenantId).where('host', '=', host),
  );
  if (owned === undefined && challenge === undefined) return null;
  return { verified: owned !== undefined && owned.verifiedAt !== null, challenge: challenge ?? null };
}

/**
 * Removes a host from a site: claim, ownership, challenge, and what the routing probe saw. A host that was proven can be proven by
 * DNS alone for 72 hours, for any site, as after a lapse. False when the site has no such host. Run it in a database transaction.
 */
export async function removeHostRows(sql: Sql, tenantId: string, host: string, at: Date): Promise<boolean> {
  await lockTenant(sql, tenantId);
  const state = await findHostState(sql, tenantId, host);
  if (state === null) return false;
  await run(sql, tables.deleteFrom('host_challenge').where('tenantId', '=', tenantId).where('host', '=', host));
  await run(sql, tables.deleteFrom('tenant_host').where('tenantId', '=', tenantId).where('host', '=', host));
  const mine = tables.deleteFrom('host_claim').where('host', '=', host).where('tenantId', '=', tenantId);
  const claims = await run(sql, mine.returning('host'));
  if (claims.length > 0) await recordLapse(sql, { tenantId, host, at });
  await moveTenantVersion(sql, tenantId, at);
  return true;
}
