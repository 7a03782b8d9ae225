import type { Database } from '../../../../db/database.ts';
import type { PaymentState } from '../../../kernel/payment/state.ts';
import { newsOf } from '../../../licences/rules/purchaseNews.ts';
import { lockPurchase, recordNotice } from '../../../licences/store/notices.ts';
import type { PaymentRef } from '../../../settlement/store/payment.ts';

/** How a purchase stands. */
export interface PurchaseStatus {
  readonly state: PaymentState | 'unknown';
  /** True while more may come of it. */
  readonly isOpen: boolean;
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

/**
 * Looks at a purchase and tells its account what there is to tell, in one database transaction: the notice says what the row said.
 * A second call tells nothing twice.
 */
export function followPurchase(deps: { readonly database: Database }, ref: PaymentRef): Promise<PurchaseStatus> {
  return deps.database.transaction(async (sql) => {
    const purchase = await lockPurchase(sql, ref);
    if (purchase === null) return { state: 'unknown', isOpen: false, bought: null };
    const { notice, isOpen } = newsOf(purchase);
    if (notice !== null) await recordNotice(sql, ref, notice);
    return { state: purchase.state, isOpen, bought: purchase.bought };
  });
}
