import type { Sql, Transactional } from '../../../db/database.ts';
import type { SiteCall } from '../../tenants/use/change.ts';
import { changeSite } from '../../tenants/use/change.ts';
import { findReceiptsPublic, writeReceiptsPublic } from '../store/records.ts';

/** Whether a site's records are shown; null when there is no such site. Throws database_unavailable. */
export function readReceiptsPublic({ reading }: { readonly reading: Sql }, tenantId: string): Promise<boolean | null> {
  return findReceiptsPublic(reading, tenantId);
}

/**
 * Shows the records of a site's payments to anyone who has their ids, or to nobody; what caches hold goes within a minute. Throws what
 * `changeSite` throws. The same again changes nothing.
 */
export function setReceiptsPublic(
  deps: { readonly database: Transactional },
  call: SiteCall,
  isPublic: boolean,
): Promise<{ readonly isPublic: boolean }> {
  return changeSite(deps, call, {
    action: 'receipts.set',
    target: null,
    look: async (sql) => ({ receiptsPublic: await findReceiptsPublic(sql, call.tenantId) }),
    make: async (database) => {
      await writeReceiptsPublic(database, call.tenantId, isPublic);
      return { isPublic };
    },
  });
}
