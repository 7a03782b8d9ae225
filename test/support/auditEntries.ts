import type { Sql } from '../../db/database.ts';
import type { NewAuditEntry } from '../../modules/tenants/store/auditLog.ts';

/** The entries of a site, the newest first, as they are stored; an owner reads them over GraphQL. */
export async function listAuditEntries(sql: Sql, tenantId: string): Promise<(NewAuditEntry & { readonly entryId: string })[]> {
  return await sql.query(
    `select tenant_id as "tenantId", entry_id as "entryId", json_build_object('userId', actor_id, 'via', actor_via) as actor,
       action, target, before, after from audit_log where tenant_id = $1 order by at desc, entry_id desc`,
    [tenantId],
  );
}
