import type { PaymentFacts } from '../../kernel/payment/state.ts';
import { isSettled } from '../../kernel/payment/state.ts';
import { TASK_TIMEOUT } from '../../kernel/workflow/taskTimeout.ts';

/** What a buyer account is told of a licence purchase. */
export type NoticeKind = 'licence_granted' | 'licence_taken_back' | 'purchase_failed' | 'purchase_expired' | 'purchase_in_review';

/** What there is to tell of a purchase as it stands, and whether more is to come. */
export interface PurchaseNews {
  readonly notice: NoticeKind | null;
  readonly isOpen: boolean;
}

/** A purchase as it stands. */
export interface PurchaseFacts extends Pick<PaymentFacts, 'state' | 'watched'> {
  /** What its account was told last; null before the first notice. */
  readonly told: NoticeKind | null;
  /** Its licence was revoked since the chain took the payment back. */
  readonly isTakenBack: boolean;
}

/**
 * The news of a purchase: a licence as soon as its payment is settled, that the chain took the payment back and the licence with it, a failure
 * only when the authorization can move no money any more (late evidence would make a licence of it), and that a person looks at it. One
 * that another purchase answered is no news. Nothing more can come once the payment is final, or over and unwatched.
 */
export function newsOf({ state, watched, told, isTakenBack }: PurchaseFacts): PurchaseNews {
  if (isSettled(state)) return { notice: 'licence_granted', isOpen: state !== 'final' };
  if (isTakenBack && told === 'licence_granted') return { notice: 'licence_taken_back', isOpen: true };
  if (state === 'review') return { notice: 'purchase_in_review', isOpen: true };
  if (watched) return { notice: null, isOpen: true };
  if (state === 'failed') return { notice: 'purchase_failed', isOpen: false };
  if (state === 'expired') return { notice: 'purchase_expired', isOpen: false };
  return { notice: null, isOpen: state !== 'superseded' };
}

/** The longest pause between two looks of a purchase's workflow. */
export const LONGEST_WAIT_MS = 60_000;

/** What Temporal's UI says of the workflow of a purchase. */
const PURCHASE_SUMMARY = 'follows the purchase of a licence and tells its account';

/** How the workflow that follows a purchase is started, by every caller. */
export function purchaseStart(purchase: { readonly tenantId: string; readonly paymentId: string }) {
  return {
    workflowId: `licence:${purchase.paymentId}`,
    staticSummary: PURCHASE_SUMMARY,
    workflowTaskTimeout: TASK_TIMEOUT,
    args: [purchase] as [typeof purchase],
  } as const;
}
