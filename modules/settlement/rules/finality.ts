import type { EvidenceRef } from '../../kernel/payment/state.ts';
import { isSameEvidence } from '../../kernel/payment/state.ts';

/** A settled payment and what proves it. */
export interface Proven {
  readonly paymentId: string;
  readonly evidence: EvidenceRef | null;
}

/**
 * True when a batch is final as a whole: each payment that is settled in it was judged to be at the safe block, by the evidence it has
 * now; what was not judged, or has moved since, keeps the batch open. A batch without settled payments is final once it `isOver`: its
 * nonce is used below the safe block. What settles in a final batch later is final by itself. Pure.
 */
export function isFinalTogether(isOver: boolean, settled: readonly Proven[], judgedSafe: readonly Proven[]): boolean {
  if (settled.length === 0) return isOver;
  const judged = new Map(judgedSafe.map(({ paymentId, evidence }) => [paymentId, evidence]));
  return settled.every(({ paymentId, evidence }) => isSame(evidence, judged.get(paymentId) ?? null));
}

function isSame(a: EvidenceRef | null, b: EvidenceRef | null): boolean {
  return a !== null && b !== null && isSameEvidence(a, b);
}
