import { cancellationSignal, heartbeat } from '@temporalio/activity';
import type { PurchaseStatus } from '../services/licences/purchase.ts';
import { followPurchase } from '../services/licences/purchase.ts';
import type { SettlementDeps } from '../services/settlement/deps.ts';

/** The activities of licence purchases. */
export interface LicenceActivities {
  /** Stays with a purchase until it is decided and its licence stands; heart-beating, at most 4 minutes. */
  followLicencePurchase(input: { readonly tenantId: string; readonly paymentId: string }): Promise<PurchaseStatus>;
}

const LONGEST_MS = 4 * 60_000;

/** The activities over one set of dependencies. */
export function createLicenceActivities(deps: Pick<SettlementDeps, 'database' | 'now'>): LicenceActivities {
  return {
    followLicencePurchase: (input) =>
      followPurchase(deps, input, { limitMs: LONGEST_MS, beat: () => heartbeat(), signal: cancellationSignal() }),
  };
}
