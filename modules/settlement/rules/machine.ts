import type { FailureReason } from '../../kernel/errors.ts';
import type { EvidenceRef, PaymentFacts } from '../../kernel/payment/state.ts';
import { isSameEvidence, isSettled, isUndecided, MAX_ATTEMPTS } from '../../kernel/payment/state.ts';

/**
 * What happened to a payment. Only `evidence` (and its opposite, `spentOtherwise`, `unusable`) come from the chain;
 * nothing else can make a payment settled (invariant 3).
 */
export type PaymentEvent =
  /** Its relayer nonce is taken and the signed bytes stored, in one database transaction (safety 7). */
  | { readonly type: 'claimed'; readonly batchId: string }
  /** Refused before anything was sent: balance, simulation, blocked payee, too late to send. */
  | { readonly type: 'refused'; readonly reason: FailureReason }
  /** The batch's nonce was mined without moving this payment (status 0, replaced, or an innocent item of a group). */
  | { readonly type: 'unsent'; readonly batchId: string }
  /** Our transaction was mined, this item failed, no evidence exists, and the diagnosis names a reason. */
  | { readonly type: 'itemFailed'; readonly batchId: string; readonly reason: FailureReason }
  /** `AuthorizationUsed` followed by the right Transfer, with the confirmations its amount asks for. */
  | {
      readonly type: 'evidence';
      readonly transfer: EvidenceRef;
      /** Evidence that moved: it follows only while this one stands, since nobody asked how deep it lies now. */
      readonly from?: EvidenceRef;
    }
  /** The nonce was used for another recipient or value, or cancelled, in a block that may still be reorged. */
  | { readonly type: 'spentOtherwise' }
  /** At a safe block the nonce is unused past `validBefore`, or spent otherwise: it can never pay us any more. */
  | {
      readonly type: 'unusable';
      /** What is undecided fails for it; `authorization_invalid` unless told. */
      readonly reason?: FailureReason;
    }
  /** The evidence's block is gone. Always name the evidence that was looked at: another one is not touched. */
  | { readonly type: 'reorged'; readonly transfer?: EvidenceRef }
  /** The evidence, read again, is at or below the safe block. Always name it: another one is not touched. */
  | { readonly type: 'safe'; readonly transfer?: EvidenceRef }
  /** The open purchase it was held behind failed; it goes out itself. */
  | { readonly type: 'released' }
  /** The open purchase it was held behind settled. */
  | { readonly type: 'superseded' }
  /** Held, and too near to `validBefore` to be sent. */
  | { readonly type: 'lapsed' }
  /** Ten minutes past `validBefore` and the chain gave no answer. */
  | { readonly type: 'overdue' }
  /** A transfer that pays it is stored, and nothing looks at it any more: it was decided by a chain that looked otherwise. */
  | { readonly type: 'contradicted' };

/** What must be written, in the same database transaction as the new state, for a decision to hold. */
export type PaymentEffect =
  | { readonly type: 'recordCrossing' } // a crossing and its legs, and their announcement in the outbox
  | { readonly type: 'correctCrossing' } // a negative crossing with legs (safety 5)
  | { readonly type: 'observePaid' }
  | { readonly type: 'observeFailed'; readonly reason: FailureReason }
  | { readonly type: 'correctFailed' } // takes back the `payment-failed` observation (safety 3)
  | { readonly type: 'correctPaid' } // takes back the `paid` observation
  | { readonly type: 'claimTransfer'; readonly transfer: EvidenceRef } // unique: one transfer, one payment (safety 1)
  | { readonly type: 'unclaimTransfer' }
  | { readonly type: 'supersedeHeld' } // payments held behind this one
  | { readonly type: 'releaseHeld' } // the oldest one held behind this one
  | { readonly type: 'resend' } // the stored bytes again, same nonce
  | { readonly type: 'alert' }; // an operator must look

/** A decision: the payment's next facts and what to write with them. */
export interface Decision {
  readonly next: PaymentFacts;
  readonly effects: readonly PaymentEffect[];
}

/**
 * The payment state machine: `(facts, event) → (facts, effects)`, pure. An event that does not apply in the state leaves
 * the facts untouched and has no effects, so that every event may be delivered twice, late, or out of order.
 */
export function decide(facts: PaymentFacts, event: PaymentEvent): Decision {
  switch (event.type) {
    case 'claimed':
      return facts.state === 'accepted' ? to(facts, { state: 'broadcast', batchId: event.batchId }) : stay(facts);
    case 'refused':
      return facts.state === 'accepted' ? fail(facts, event.reason) : stay(facts);
    case 'unsent':
      return unsent(facts, event.batchId);
    case 'itemFailed':
      return ofBatch(facts, event.batchId) ? fail(facts, event.reason) : stay(facts);
    case 'evidence':
      return speaksOf(facts, event.from) ? settle(facts, event.transfer) : stay(facts);
    case 'spentOtherwise':
      return spentOtherwise(facts);
    case 'unusable':
      return unusable(facts, event.reason);
    case 'reorged':
      return speaksOf(facts, event.transfer) ? reorged(facts) : stay(facts);
    case 'safe':
      return facts.state === 'settled' && speaksOf(facts, event.transfer)
        ? to(facts, { state: 'final', watched: false })
        : stay(facts);
    case 'released':
      return facts.state === 'held' ? to(facts, { state: 'accepted', forgone: false }) : stay(facts);
    case 'superseded':
      return facts.state === 'held' ? to(facts, { state: 'superseded' }) : stay(facts);
    case 'lapsed':
      return facts.state === 'held' ? to(facts, { state: 'expired' }) : stay(facts);
    case 'contradicted':
      return !isSettled(facts.state) && !facts.watched ? to(facts, { watched: true }, [{ type: 'alert' }]) : stay(facts);
    case 'overdue':
      return facts.state === 'broadcast' ? to(facts, { state: 'review' }, [{ type: 'alert' }]) : stay(facts);
  }
}

function stay(facts: PaymentFacts): Decision {
  return { next: facts, effects: [] };
}

function to(facts: PaymentFacts, change: Partial<PaymentFacts>, effects: readonly PaymentEffect[] = []): Decision {
  return { next: { ...facts, ...change }, effects };
}

function ofBatch(facts: PaymentFacts, batchId: string): boolean {
  return facts.state === 'broadcast' && facts.batchId === batchId;
}

/** True unless the event names evidence other than the payment's: it was read before the evidence moved. */
function speaksOf(facts: PaymentFacts, transfer: EvidenceRef | undefined): boolean {
  return transfer === undefined || (facts.evidence !== null && isSameEvidence(facts.evidence, transfer));
}

/** Back to `accepted` to go out under a new nonce, or failed when that happened too often. */
function unsent(facts: PaymentFacts, batchId: string): Decision {
  if (!ofBatch(facts, batchId)) return stay(facts);
  const attempts = facts.attempts + 1;
  if (attempts >= MAX_ATTEMPTS) return fail({ ...facts, attempts }, 'settlement_failed');
  return to(facts, { state: 'accepted', batchId: null, attempts });
}

/** Decided against: one `payment-failed` observation, a recorded crossing taken back, the next in line goes. */
function fail(facts: PaymentFacts, reason: FailureReason, watched = true): Decision {
  const effects: PaymentEffect[] = [];
  if (facts.recorded) effects.push({ type: 'correctCrossing' }, { type: 'correctPaid' });
  if (!facts.failureObserved) effects.push({ type: 'observeFailed', reason });
  effects.push({ type: 'releaseHeld' });
  const change = { state: 'failed', reason, recorded: false, failureObserved: true, forgone: true } as const;
  return to(facts, { ...change, evidence: null, watched }, effects);
}

/** Money moved: whatever we thought before, it is recorded and paid out (safety 3, 14). */
function settle(facts: PaymentFacts, transfer: EvidenceRef): Decision {
  if (isSettled(facts.state)) {
    if (facts.evidence !== null && isSameEvidence(facts.evidence, transfer)) return stay(facts);
    return to(facts, { state: 'settled', evidence: transfer, watched: true }, [
      { type: 'unclaimTransfer' },
      { type: 'claimTransfer', transfer },
    ]);
  }
  const effects: PaymentEffect[] = [{ type: 'claimTransfer', transfer }];
  if (!facts.recorded) effects.push({ type: 'recordCrossing' }, { type: 'observePaid' });
  if (facts.failureObserved) effects.push({ type: 'correctFailed' });
  effects.push({ type: 'supersedeHeld' });
  const change = { state: 'settled', evidence: transfer, recorded: true, reason: null, failureObserved: false } as const;
  return to(facts, { ...change, watched: true }, effects);
}

/** Failed, yet watched: the block that spent it may be reorged. A held one ends without a failure (safety 14). */
function spentOtherwise(facts: PaymentFacts): Decision {
  if (facts.state === 'held') return to(facts, { state: 'expired' });
  return isUndecided(facts.state) ? fail(facts, 'authorization_invalid') : stay(facts);
}

/** Nobody can move this money any more: what is undecided is decided, and nothing is watched. */
function unusable(facts: PaymentFacts, reason: FailureReason = 'authorization_invalid'): Decision {
  if (isSettled(facts.state)) return stay(facts);
  if (facts.state === 'held') return to(facts, { state: 'expired', watched: false });
  if (isUndecided(facts.state)) return fail(facts, reason, false);
  return facts.watched ? to(facts, { watched: false }) : stay(facts);
}

/**
 * The block is gone: the same bytes again; a crossing stays until the chain decides otherwise (safety 5). What was accepted when someone else
 * submitted it is accepted again, and goes out: its page was given, and its authorization may still be good. What was held, decided against or
 * superseded then is only watched.
 */
function reorged(facts: PaymentFacts): Decision {
  if (!isSettled(facts.state)) return stay(facts);
  const effects: PaymentEffect[] = [{ type: 'unclaimTransfer' }];
  if (facts.state === 'final') effects.push({ type: 'correctCrossing' }, { type: 'correctPaid' }, { type: 'alert' });
  if (facts.batchId !== null) effects.push({ type: 'resend' });
  const recorded = facts.state === 'final' ? false : facts.recorded;
  const state = facts.batchId === null && !facts.forgone ? 'accepted' : 'broadcast';
  return to(facts, { state, evidence: null, recorded, watched: true }, effects);
}
