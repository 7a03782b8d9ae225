import { insertAuditEntry } from '../../db/auditLog.ts';
import type { Database } from '../../db/database.ts';
import { eraseAccountRow, findAccountId } from '../../db/erasure.ts';
import { atDatabase } from '../outage.ts';
import { OPERATOR } from '../site/change.ts';

/**
 * Erases a buyer account by its wallet (lower case) or its id: name, wallet and credentials go, and each site that sold it a licence finds
 * an entry with its id in the audit log. Payments, licences and what the chain shows stay. Tokens that were given out end within the hour.
 * `accountId` is null when there is no such account, as after an erasure by wallet; a second call by id changes nothing.
 */
export async function eraseAccount(
  deps: { readonly database: Database },
  by: { readonly wallet: string } | { readonly accountId: string },
): Promise<{ readonly accountId: string | null; readonly erased: boolean }> {
  return await atDatabase(() =>
    deps.database.transaction(async (sql) => {
      const accountId = await findAccountId(sql, by);
      if (accountId === null) return { accountId, erased: false };
      const sites = await eraseAccountRow(sql, accountId);
      for (const tenantId of sites ?? []) {
        const entry = { tenantId, actor: OPERATOR, action: 'account.erase', target: accountId };
        await insertAuditEntry(sql, { ...entry, before: null, after: null });
      }
      return { accountId, erased: sites !== null };
    }),
  );
}
