import type { PurchaseStatus } from '../services/licences/purchase.ts';
import { followPurchase } from '../services/licences/purchase.ts';
import type { SettlementDeps } from '../services/settlement/deps.ts';

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
