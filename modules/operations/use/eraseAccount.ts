import type { Database } from '../../../db/database.ts';
import type { Actor } from '../../kernel/access/auditEntry.ts';
import { insertAuditEntry, insertOperatorEntry } from '../../tenants/store/auditLog.ts';
import { eraseAccountRow, findAccountId } from '../../tenants/store/erasure.ts';

/**
 * Erases a buyer account by its wallet (lower case) or its id: name, wallet and credentials go, and each site that sold it a licence finds
 * an entry with its id in the audit log, as the operators do. Payments, licences and what the chain shows stay. Tokens that were given out end within the hour.
 * `accountId` is null when there is no such account, as after an erasure by wallet; a second call by id changes nothing.
 */
export async function eraseAccount(
  deps: { readonly database: Database },
  actor: Actor,
  by: { readonly wallet: string } | { readonly accountId: string },
): Promise<{ readonly accountId: string | null; readonly erased: boolean }> {
  return await deps.database.transaction(async (sql) => {
    const accountId = await findAccountId(sql, by);
    if (accountId === null) return { accountId, erased: false };
    const sites = await eraseAccountRow(sql, accountId);
    const entry = { actor, action: 'account.erase', target: accountId, before: null, after: null };
    for (const tenantId of sites ?? []) await insertAuditEntry(sql, { ...entry, tenantId });
    if (sites !== null) await insertOperatorEntry(sql, entry);
    return { accountId, erased: sites !== null };
  });
}
