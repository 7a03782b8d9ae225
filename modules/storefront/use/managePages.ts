import type { Database } from '../../../db/database.ts';
import type { Networks } from '../../../platform/chain/network.ts';
import { ServiceError } from '../../kernel/errors.ts';
import type { PeriodFactor } from '../../kernel/licence/period.ts';
import { findImportedPages, readOfferingRules, removeImportedPages } from '../../licences/store/offering.ts';
import type { SiteCall } from '../../tenants/use/change.ts';
import { changeSite } from '../../tenants/use/change.ts';
import type { ImportLimits, PageInput } from './licences/offering.ts';
import { importPages, MAX_IMPORT, setLicenceOffering } from './licences/offering.ts';

/** What managing a site's catalogue needs. */
export interface SitePageDeps extends ImportLimits {
  readonly database: Database;
  readonly networks?: Pick<Networks, 'contracts'>;
}

/**
 * Imports pages, replacing those of the same slug. Throws invalid_parameter, conflict when two pages
 * have one path, and what `changeSite` throws. The same import again changes nothing.
 */
export async function importSitePages(
  deps: SitePageDeps,
  call: SiteCall,
  pages: readonly PageInput[],
): Promise<{ readonly imported: number }> {
  if (!Array.isArray(pages) || pages.length === 0 || pages.length > MAX_IMPORT) {
    throw new ServiceError('invalid_parameter', `pages: 1 to ${MAX_IMPORT} at once`, { parameter: 'pages' });
  }
  const slugs = pages.map(({ slug }) => slug);
  return await changeSite(deps, call, {
    action: 'page.import',
    target: null,
    look: (sql) => findImportedPages(sql, call.tenantId, slugs),
    make: (database) => importPages({ ...deps, database }, { tenantId: call.tenantId, pages }),
  });
}

/** Removes imported pages from the catalogue; licences sold keep them. Slugs that are not there count as 0. */
export async function removeSitePages(
  deps: Pick<SitePageDeps, 'database'>,
  call: SiteCall,
  slugs: readonly string[],
): Promise<{ readonly removed: number }> {
  if (slugs.length === 0 || slugs.length > MAX_IMPORT) {
    throw new ServiceError('invalid_parameter', `slugs: 1 to ${MAX_IMPORT} at once`, { parameter: 'slugs' });
  }
  return await changeSite(deps, call, {
    action: 'page.remove',
    target: null,
    look: (sql) => findImportedPages(sql, call.tenantId, slugs),
    make: async (database) => ({ removed: await removeImportedPages(database, call.tenantId, slugs) }),
  });
}

/** Sets whether a site sells training and what its periods cost; null: the usual factors. Throws as `setLicenceOffering`. */
export async function setSiteOffering(
  deps: Pick<SitePageDeps, 'database'>,
  call: SiteCall,
  offering: { readonly sellsTraining: boolean; readonly periodFactors: readonly PeriodFactor[] | null },
): Promise<void> {
  const { tenantId } = call;
  await changeSite(deps, call, {
    action: 'offering.set',
    target: null,
    look: async (sql) => ({ ...(await readOfferingRules(sql, tenantId)) }),
    make: (database) => setLicenceOffering({ database }, { tenantId, ...offering }),
  });
}
