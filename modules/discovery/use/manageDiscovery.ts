import type { Database } from '../../../db/database.ts';
import type { Listing, OwnListing } from '../../tenants/store/publicList.ts';
import { deleteListing, findListing, writeListing } from '../../tenants/store/publicList.ts';
import type { SiteCall } from '../../tenants/use/change.ts';
import { changeSite } from '../../tenants/use/change.ts';
import { validateListing } from '../rules/listing.ts';

/**
 * Puts a site into the public list with what it says of itself, its pages into the search, or takes both out (null). Whether it
 * `relays` the text of its pages stays when it is left out, and is off at first. Throws invalid_parameter, and what `changeSite` throws.
 * Returns what holds now. The same again changes nothing.
 */
export async function setSiteDiscovery(
  deps: { readonly database: Database },
  call: SiteCall,
  listing: (Listing & { readonly relays?: boolean }) | null,
): Promise<OwnListing | null> {
  const { tenantId } = call;
  if (listing) validateListing(listing);
  return await changeSite(deps, call, {
    action: 'discovery.set',
    target: null,
    look: async (sql) => ({ listing: await findListing(sql, tenantId) }),
    make: (database) =>
      database.transaction(async (sql) => {
        await (listing ? writeListing(sql, tenantId, { relays: null, ...listing }) : deleteListing(sql, tenantId));
        return await findListing(sql, tenantId);
      }),
  });
}
