import type { Carrier, Spending } from '../../kernel/payment/sight.ts';
import { isSameEvidence, isSettled } from '../../kernel/payment/state.ts';
import type { JudgedPayment } from './judge.ts';
import { payingTransfer } from './judge.ts';

/**
 * True for what one node alone must not decide: that the money of a payment went elsewhere, that what proved it is gone or moved, that bytes of
 * ours ran and moved nothing of it, and, from `fromMicro` on, that it was paid. Pure.
 */
export function needsSecondSource(
  payment: JudgedPayment,
  spending: Spending | null,
  fromMicro: bigint,
  carrier: Carrier | null,
): boolean {
  const paid = payingTransfer(payment, spending);
  const { state, evidence } = payment.facts;
  if (isSettled(state)) return paid === null || evidence === null || !isSameEvidence(evidence, paid.transfer);
  if (spending === null) return carrier?.fate === 'executed' || carrier?.fate === 'reverted';
  return paid === null || payment.amountMicro >= fromMicro;
}
