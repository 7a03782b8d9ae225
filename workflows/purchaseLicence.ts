import { continueAsNew, proxyActivities, sleep } from '@temporalio/workflow';
import type { LicenceActivities } from '../activities/licences.ts';
import { paymentAttributes } from '../modules/kernel/workflow/attributes.ts';
import { LONGEST_WAIT_MS } from '../modules/licences/rules/purchaseNews.ts';
import { keepStatus } from './status.ts';

/** What a purchase is followed by: ids only (safety 20). The licence has the payment's id. */
export interface PurchaseLicenceInput {
  readonly tenantId: string;
  readonly paymentId: string;
  /** How long the next wait is; only by itself. */
  readonly waitMs?: number;
}

const { followLicencePurchase } = proxyActivities<LicenceActivities>({
  startToCloseTimeout: '10s',
  retry: { initialInterval: '500ms', backoffCoefficient: 2, maximumInterval: '10s' },
  summary: 'how the purchase stands; tells the account',
});

const FIRST_WAIT_MS = 500;
const LOOKS = 100;

/**
 * Stays with one licence purchase, as `licence:<jti>`, for as long as anything may come of it: until its payment is final, or can move no money
 * any more. It sees to it that the account is told of the licence, that the chain took it back, that nothing was paid, or that a person looks at
 * it. What a purchase is stands in its row alone: settling is `settlePayments`, and the licence is written by the transaction that settles
 * (safety 16). Looks are further and further apart. Returns how it ended; `Outcome`: `open`, `settled`, `taken_back`, then how it ended.
 */
export async function purchaseLicence({ tenantId, paymentId, waitMs }: PurchaseLicenceInput): Promise<string> {
  const told = keepStatus({ state: 'waits', licence: paymentId, site: tenantId });
  let lastOutcome = '';
  let nextMs = waitMs ?? FIRST_WAIT_MS;
  for (let look = 0; look < LOOKS; look++) {
    const { state, isOpen, isTakenBack, bought } = await followLicencePurchase({ tenantId, paymentId });
    const outcome = isTakenBack ? 'taken_back' : isOpen && state !== 'settled' ? 'open' : state;
    if (bought && look === 0) {
      const { network, host, accountId, priceMicro } = bought;
      const attributes = paymentAttributes(network, [{ tenantId, paymentId }]);
      told.tell({ host, account: accountId, 'price in micro': priceMicro }, { ...attributes, Host: host, AccountId: accountId });
    }
    told.tell({ state }, outcome === lastOutcome ? undefined : { Outcome: outcome });
    lastOutcome = outcome;
    if (!isOpen) return state;
    await sleep(nextMs, { summary: 'next look' });
    nextMs = Math.min(2 * nextMs, LONGEST_WAIT_MS);
  }
  return continueAsNew<typeof purchaseLicence>({ tenantId, paymentId, waitMs: nextMs });
}
