import type { Database } from '../../db/database.ts';
import type { Listing } from '../../db/tenants/publicList.ts';
import { deleteListing, findListing, writeListing } from '../../db/tenants/publicList.ts';
import { validateListing } from '../../domain/discovery/listing.ts';
import type { SiteCall } from './change.ts';
import { changeSite } from './change.ts';

/**
 * Puts a site into the public list with what it says of itself, or takes it out (null). Throws invalid_parameter, and what `changeSite` throws.
 * The same again changes nothing.
 */
export async function setSiteDiscovery(
  deps: { readonly database: Database },
  call: SiteCall,
  listing: Listing | null,
): Promise<void> {
  const { tenantId } = call;
  if (listing) validateListing(listing);
  await changeSite(deps, call, {
    action: 'discovery.set',
    target: null,
    look: async (sql) => ({ listing: await findListing(sql, tenantId) }),
    make: (database) =>
      database.transaction((sql) => (listing ? writeListing(sql, tenantId, listing) : deleteListing(sql, tenantId))),
  });
}
