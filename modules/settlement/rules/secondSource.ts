import type { Spending } from '../../kernel/payment/sight.ts';
import { isSameEvidence, isSettled } from '../../kernel/payment/state.ts';
import type { JudgedPayment } from './judge.ts';
import { payingTransfer } from './judge.ts';

/**
 * True for what one node alone must not decide: that the money of a payment went elsewhere, that what proved it is gone or moved, and,
 * from `fromMicro` on, that it was paid. Pure.
 */
export function needsSecondSource(payment: JudgedPayment, spending: Spending | null, fromMicro: bigint): boolean {
  const paid = payingTransfer(payment, spending);
  const { state, evidence } = payment.facts;
  if (isSettled(state)) return paid === null || evidence === null || !isSameEvidence(evidence, paid.transfer);
  return paid === null ? spending !== null : payment.amountMicro >= fromMicro;
}
