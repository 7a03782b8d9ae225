import type { PaymentFacts } from '../../kernel/payment/state.ts';
import { isSettled } from '../../kernel/payment/state.ts';

/** What a buyer account is told of a licence purchase. */
export type NoticeKind = 'licence_granted' | 'purchase_failed' | 'purchase_expired' | 'purchase_in_review';

/** What there is to tell of a purchase as it stands, and whether more is to come. */
export interface PurchaseNews {
  readonly notice: NoticeKind | null;
  readonly isOpen: boolean;
}

/**
 * The news of a purchase: a licence as soon as its payment is settled, a failure only when the authorization can move no money any
 * more (late evidence would make a licence of it), and that a person looks at it. One that another purchase answered is no news.
 */
export function newsOf({ state, watched }: Pick<PaymentFacts, 'state' | 'watched'>): PurchaseNews {
  if (isSettled(state)) return { notice: 'licence_granted', isOpen: false };
  if (state === 'review') return { notice: 'purchase_in_review', isOpen: true };
  if (watched) return { notice: null, isOpen: true };
  if (state === 'failed') return { notice: 'purchase_failed', isOpen: false };
  if (state === 'expired') return { notice: 'purchase_expired', isOpen: false };
  return { notice: null, isOpen: state !== 'superseded' };
}
