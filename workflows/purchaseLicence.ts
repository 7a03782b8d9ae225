import { continueAsNew, proxyActivities } from '@temporalio/workflow';
import type { LicenceActivities } from '../activities/licences.ts';

/** What a purchase is followed by: ids only (safety 20). The licence has the payment's id. */
export interface PurchaseLicenceInput {
  readonly tenantId: string;
  readonly paymentId: string;
}

const { followLicencePurchase } = proxyActivities<LicenceActivities>({
  startToCloseTimeout: '5m',
  heartbeatTimeout: '10s',
  retry: { initialInterval: '500ms', backoffCoefficient: 2, maximumInterval: '10s' },
});

const OPEN_STATES: readonly string[] = ['accepted', 'held', 'broadcast'];

/**
 * Follows one licence purchase, as `licence:<jti>`, until its payment is decided and, when it was settled, its licence stands
 * (safety 16). Settling itself is `settlePayments`; the licence, its crossing and its announcement are written by the
 * transaction that settles, and tokens are minted from rows at each answer. Returns how it ended.
 */
export async function purchaseLicence(input: PurchaseLicenceInput): Promise<string> {
  const { state } = await followLicencePurchase(input);
  if (OPEN_STATES.includes(state)) await continueAsNew<typeof purchaseLicence>(input);
  return state;
}
