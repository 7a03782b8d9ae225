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

/** Where a network stands, as far as the wait for its safe block goes. */
export interface SafeLag {
  readonly latest: bigint;
  readonly safe: bigint;
  readonly blockTimeMs: number;
}

const LEAST_MS = 1_000;
const MOST_MS = 600_000;
const LEAST_BLIND_MS = 60_000;

/**
 * How long to wait until the safe block should have passed a block, milliseconds: as long as it is away. A safe block goes on in steps, so that a look
 * that came too early is not repeated before a quarter of its usual distance has gone by: a batch has a few looks, however far behind it lies. Pure.
 */
export function safeWaitMs(blockNumber: bigint, { latest, safe, blockTimeMs }: SafeLag): number {
  const blocks = Math.max(Number(blockNumber - safe), Number(latest - safe) / 4);
  return Math.min(Math.max(blocks * blockTimeMs, LEAST_MS), MOST_MS);
}

/**
 * How long to wait for the next look at a batch while no node tells the safe block, milliseconds: a quarter of the batch's age, a minute at least. However
 * many batches an outage leaves unfinished, each is looked at more and more seldom, down to once in ten minutes. Pure.
 */
export function blindWaitMs(ageMs: number): number {
  return Math.min(Math.max(ageMs / 4, LEAST_BLIND_MS), MOST_MS);
}
