/** What an owner decided of a site, as it holds now; graphql/** shows it. */

import type { EnforcementSettings } from '../../gate/rules/enforcement.ts';
import { DEFAULT_ENFORCEMENT } from '../../gate/rules/enforcement.ts';
import { findEnforcement } from '../../gate/store/enforcement.ts';
import type { OfferingRules } from '../../licences/store/offering.ts';
import { readOfferingRules } from '../../licences/store/offering.ts';
import type { AlertAddress } from '../../mail/store/mails.ts';
import { findAlertAddress } from '../../mail/store/mails.ts';
import type { ReadingDeps } from '../../paging/use/deps.ts';
import type { OwnListing } from '../../tenants/store/publicList.ts';
import { findListing } from '../../tenants/store/publicList.ts';
import { findChosenNetworks } from '../../tenants/store/tenants.ts';

export type { OwnListing } from '../../tenants/store/publicList.ts';

/** What a site says about selling licences. */
export type LicenceRules = OfferingRules;

type Reading = Pick<ReadingDeps, 'reading'>;

/** What a site's gate decides by, as `changeGate` sets it. Throws database_unavailable. */
export async function readGate({ reading }: Reading, tenantId: string): Promise<EnforcementSettings> {
  return (await findEnforcement(reading, tenantId)) ?? DEFAULT_ENFORCEMENT;
}

/** Whether a site sells training, and what its periods cost; null: the usual factors. Throws database_unavailable. */
export function readLicenceRules({ reading }: Reading, tenantId: string): Promise<LicenceRules> {
  return readOfferingRules(reading, tenantId);
}

/** The networks a site's owner chose; null: never chosen. Throws database_unavailable. */
export function readNetworks({ reading }: Reading, tenantId: string): Promise<readonly string[] | null> {
  return findChosenNetworks(reading, tenantId);
}

/** Where a site's alerts go by e-mail; null: nowhere. Throws database_unavailable. */
export function readAlertAddress({ reading }: Reading, tenantId: string): Promise<AlertAddress | null> {
  return findAlertAddress(reading, tenantId);
}

/** What a site says of itself in the public list, and whether it relays; null: it is not in it. Throws database_unavailable. */
export function readDiscovery({ reading }: Reading, tenantId: string): Promise<OwnListing | null> {
  return findListing(reading, tenantId);
}
