import type { Database } from '../../../../db/database.ts';
import type { PaymentState } from '../../../kernel/payment/state.ts';
import { LONGEST_WAIT_MS, newsOf } from '../../../licences/rules/purchaseNews.ts';
import { closePurchase, holdPurchase, lockPurchase, recordNotice } from '../../../licences/store/notices.ts';
import type { PaymentRef } from '../../../settlement/store/payment.ts';

/** How a purchase stands. */
export interface PurchaseStatus {
  readonly state: PaymentState | 'unknown';
  /** True while more may come of it. */
  readonly isOpen: boolean;
  /** The chain took its payment back, and with it the licence. */
  readonly isTakenBack: boolean;
  /** What is bought, by whom; null where there is no such purchase. */
  readonly bought: Bought | null;
}

/** What a purchase is found by. */
export interface Bought {
  readonly network: string;
  readonly host: string;
  readonly accountId: string;
  /** Whole micro-units, as text. */
  readonly priceMicro: string;
}

/** Beyond the longest pause of a workflow: a worker may be starting. */
const LATE_MS = 120_000;

/**
 * Looks at a purchase and tells its account what there is to tell, in one database transaction: the notice says what the row said. The
 * workflow of the purchase asks, so it has one until its next look is overdue. A second call tells nothing twice.
 */
export function followPurchase(deps: { readonly database: Database }, ref: PaymentRef): Promise<PurchaseStatus> {
  return deps.database.transaction(async (sql) => {
    const purchase = await lockPurchase(sql, ref);
    if (purchase === null) {
      await closePurchase(sql, ref);
      return { state: 'unknown', isOpen: false, isTakenBack: false, bought: null };
    }
    const { state, isTakenBack, bought } = purchase;
    const { notice, isOpen } = newsOf(purchase);
    if (notice !== null) await recordNotice(sql, ref, notice);
    if (isOpen) await holdPurchase(sql, ref, LONGEST_WAIT_MS + LATE_MS);
    else await closePurchase(sql, ref);
    return { state, isOpen, isTakenBack, bought };
  });
}
