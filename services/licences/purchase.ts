import type { Database } from '../../db/database.ts';
import { confirmLicence } from '../../db/licences/record.ts';
import type { PaymentRef } from '../../db/settlement/payment.ts';
import { findPayment } from '../../db/settlement/payment.ts';
import type { PaymentState } from '../../domain/payment/state.ts';
import { isSettled } from '../../domain/payment/state.ts';

/** How a purchase stands. */
export interface PurchaseStatus {
  readonly state: PaymentState | 'unknown';
  /** True when the licence stands in its table. */
  readonly isRecorded: boolean;
}

const POLL_MS = 250;
const OPEN_STATES: ReadonlySet<string> = new Set(['accepted', 'held', 'broadcast']);

/**
 * Stays with a purchase until its payment is decided, for at most `limitMs`, and then sees to it that the licence stands, from
 * rows alone (safety 16): the settling transaction wrote it, so that this writes nothing new. A second call is harmless.
 */
export async function followPurchase(
  deps: { readonly database: Database; readonly now: () => number },
  ref: PaymentRef,
  options: { readonly limitMs: number; readonly beat: () => void; readonly signal: AbortSignal },
): Promise<PurchaseStatus> {
  const until = deps.now() + options.limitMs;
  for (;;) {
    options.beat();
    const payment = await findPayment(deps.database, ref);
    if (!payment) return { state: 'unknown', isRecorded: false };
    const { state } = payment.facts;
    if (isSettled(state)) return { state, isRecorded: await confirmLicence(deps.database, ref) };
    if (!OPEN_STATES.has(state) || deps.now() >= until || options.signal.aborted) return { state, isRecorded: false };
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}
