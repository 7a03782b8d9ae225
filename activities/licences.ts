import type { SettlementDeps } from '../modules/settlement/use/deps.ts';
import type { PurchaseStatus } from '../modules/storefront/use/licences/followPurchase.ts';
import { followPurchase } from '../modules/storefront/use/licences/followPurchase.ts';

/** The activities of licence purchases. */
export interface LicenceActivities {
  /** One look at a purchase: its account is told what there is to tell, once. */
  followLicencePurchase(input: { readonly tenantId: string; readonly paymentId: string }): Promise<PurchaseStatus>;
}

/** The activities over one set of dependencies. */
export function createLicenceActivities(deps: Pick<SettlementDeps, 'database'>): LicenceActivities {
  return {
    followLicencePurchase: ({ tenantId, paymentId }) => followPurchase(deps, { tenantId, paymentId }),
  };
}
