import type { Sight } from '../../kernel/payment/sight.ts';
import type { JudgedPayment, Moment, Verdict } from './judge.ts';
import { judge } from './judge.ts';
import { decide } from './machine.ts';

/**
 * Everything a sight means for a payment, in order: what was taken back is judged again at once, of the same sight, for another
 * transaction may pay it. Empty when nothing is decided. Pure.
 */
export function verdictsOf(payment: JudgedPayment, sight: Sight | null, now: Moment): readonly Verdict[] {
  const verdict = judge(payment, sight, now);
  if (verdict === 'wait') return [];
  if (verdict.event.type !== 'reorged') return [verdict];
  const { next } = decide(payment.facts, verdict.event);
  return next === payment.facts ? [verdict] : [verdict, ...verdictsOf({ ...payment, facts: next }, sight, now)];
}
