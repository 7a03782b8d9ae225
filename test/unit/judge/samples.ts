import type { Carrier, RailWord, Sight, Spending } from '../../../modules/kernel/payment/sight.ts';
import type { EvidenceRef, PaymentFacts, PaymentState } from '../../../modules/kernel/payment/state.ts';
import { newPayment } from '../../../modules/kernel/payment/state.ts';
import type { JudgedPayment, Moment } from '../../../modules/settlement/rules/judge.ts';

/**
 * Samples that judgements are tried on: a price of one confirmation, taken in at second 600, valid until second 1,000, looked at in second 900 at
 * block 100.
 */

export const PAY_TO = '0xauthor';
export const BATCH = 'batch-1';
export const VALID_BEFORE = 1_000n;
const PRICE = 1_000n;
/** Prices from here on wait for two blocks. */
export const DEAR = 5_000n;

/** The log that proves the samples that are settled. */
export const PROOF: EvidenceRef = { txHash: '0x01', logIndex: 3, blockNumber: 99n };

const BARE = newPayment('accepted');
const FACTS: Readonly<Record<PaymentState, PaymentFacts>> = {
  accepted: BARE,
  held: newPayment('held'),
  superseded: newPayment('superseded'),
  broadcast: { ...BARE, state: 'broadcast', batchId: BATCH },
  settled: { ...BARE, state: 'settled', batchId: BATCH, recorded: true, evidence: PROOF },
  final: { ...BARE, state: 'final', batchId: BATCH, recorded: true, evidence: PROOF, watched: false },
  failed: { ...BARE, state: 'failed', batchId: BATCH, reason: 'settlement_failed', failureObserved: true, forgone: true },
  expired: { ...BARE, state: 'expired', forgone: true },
  review: { ...BARE, state: 'review', batchId: BATCH },
};

/** A payment in a state, otherwise plain and cheap. */
export function paymentIn(
  state: PaymentState,
  change: Partial<Omit<JudgedPayment, 'facts'>> & { readonly facts?: Partial<PaymentFacts> } = {},
): JudgedPayment {
  const { facts, ...rest } = change;
  return {
    facts: { ...FACTS[state], ...facts },
    payTo: PAY_TO,
    amountMicro: PRICE,
    validAfter: 0n,
    validBefore: VALID_BEFORE,
    payerKind: 'plain',
    acceptedAt: new Date(600_000),
    ...rest,
  };
}

/** Second 900, or another. */
export function at(seconds: number): Moment {
  return { seconds, blockTimeMs: 2_000, confirmationsFor: (amountMicro) => (amountMicro >= DEAR ? 2 : 1) };
}

/** A nonce that is unused, and nothing else: nobody asked. */
export function sightOf(change: Partial<Sight> = {}): Sight {
  return { head: 100n, nonce: 'unused', safe: null, spending: null, carrier: null, simulation: null, rail: null, ...change };
}

/** The transfer that pays a sample, in block 99, or another one. */
export function paid(change: Partial<Extract<Spending, { kind: 'transfer' }>> = {}): Spending {
  return { kind: 'transfer', to: PAY_TO, valueMicro: PRICE, transfer: PROOF, timeSeconds: 898n, ...change };
}

/** A used nonce, and where it went. */
export function spent(spending: Spending | null, change: Partial<Sight> = {}): Sight {
  return sightOf({ nonce: 'used', spending, ...change });
}

/** The safe block of the samples, ten below the head. */
export function safeAt(blockNumber: bigint, change: Partial<NonNullable<Sight['safe']>> = {}): Pick<Sight, 'safe'> {
  return { safe: { blockNumber, timeSeconds: 880n, nonce: 'unused', ...change } };
}

/** The batch's bytes, mined alone and without moving anything. */
export function carrierOf(change: Partial<Carrier> = {}): Carrier {
  return { batchId: BATCH, size: 1, fate: 'executed', ...change };
}

/** What a simulation of now may say. */
export const PASSED = { kind: 'passed' } as const;
export const BROKE = { kind: 'refused', reason: 'insufficient_funds', raw: 'balance_too_low' } as const;
export const BLOCKED = { kind: 'payee_blocked' } as const;

/** Words of a rail that moves money under ids of its own. */
export const MOVING: RailWord = { kind: 'moving' };
export const MOVED: RailWord = { kind: 'moved', id: 'transfer-7' };
export const GONE: RailWord = { kind: 'gone', id: 'transfer-7' };
/** The evidence that such an id makes. */
export const RAIL_PROOF: EvidenceRef = { txHash: 'transfer-7', logIndex: 0, blockNumber: 0n };
