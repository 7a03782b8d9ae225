import type { Database } from '../../../../db/database.ts';
import type { FailureReason } from '../../../kernel/errors.ts';
import { isUndecided } from '../../../kernel/payment/state.ts';
import type { Occurrence } from '../../store/applyEvents.ts';
import { applyEvents } from '../../store/applyEvents.ts';
import type { Payment } from '../../store/payment.ts';
import { findPayment } from '../../store/payment.ts';

/** Outcomes by the last three digits of the amount in micro; any other amount settles. */
const OUTCOMES: Readonly<Record<string, FailureReason | 'pending'>> = {
  '001': 'insufficient_funds',
  '002': 'authorization_invalid',
  '003': 'settlement_failed',
  '004': 'pending',
  '005': 'malformed_payment',
  '006': 'network_unsupported',
};

/** True for an amount that test keys refuse or leave pending on purpose. */
export function isPlayedFailure(amountMicro: bigint): boolean {
  return amountMicro.toString().slice(-3) in OUTCOMES;
}

/**
 * Settles a payment of a test key (`svc_test_`): a fixed outcome by its amount, without chain, relayer or money. Nothing of it
 * counts: no crossing, no observation. A second call changes nothing.
 */
export async function settleMock(deps: { readonly database: Database }, payment: Payment): Promise<Payment> {
  const outcome = OUTCOMES[payment.amountMicro.toString().slice(-3)];
  if (payment.mode !== 'mock' || !isUndecided(payment.facts.state) || outcome === 'pending') return payment;
  const ref = { tenantId: payment.tenantId, paymentId: payment.paymentId };
  const transfer = { txHash: `mock_${payment.paymentId}`, logIndex: 0, blockNumber: 0n };
  const decided: Occurrence = outcome
    ? { ...ref, event: { type: 'refused', reason: outcome }, sentence: 'the outcome of this amount in test mode' }
    : { ...ref, event: { type: 'evidence', transfer } };
  await applyEvents(deps.database, [{ ...ref, event: { type: 'released' } }, decided]);
  return (await findPayment(deps.database, ref)) ?? payment;
}
