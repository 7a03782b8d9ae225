import type { FailureReason } from '../errors.ts';

/**
 * States of a payment: accepted → (held) → broadcast → settled → final, or failed, superseded, expired,
 * or review, where a person looks because ten minutes after `validBefore` the chain still gave no answer.
 */
export const PAYMENT_STATES = [
  'accepted', // stored; nothing has left the process
  'held', // stored behind an open purchase of the same payer for the same thing; never sent while held
  'broadcast', // relayer nonce taken and signed bytes stored; may be on the wire
  'settled', // evidence with its confirmations seen; recorded in the ledger
  'final', // evidence is at or below the safe block
  'failed', // decided against, with a reason; still watched until it can no longer happen
  'superseded', // held behind a purchase that settled, or covered by a live licence; watched
  'expired', // held until it was too late to send; watched
  'review', // no answer from the chain long after `validBefore`
] as const;
/** One of the states of a payment. */
export type PaymentState = (typeof PAYMENT_STATES)[number];

/** What a state means to the rest of the service; a state added later must say all of it here. */
interface Meaning {
  /** `open`: goes on by itself. `asked`: a person looks. `follows`: another payment's answer is its own. */
  readonly verdict: 'open' | 'asked' | 'paid' | 'unpaid' | 'follows';
  /** It may be on its way, so that others of the same purchase wait for it (safety 14). */
  readonly leads: boolean;
  /** Nothing of ours carries it, so that only a look at its authorization shows what became of it (safety 3). */
  readonly isLoose: boolean;
}

const MEANINGS: Readonly<Record<PaymentState, Meaning>> = {
  accepted: { verdict: 'open', leads: true, isLoose: false },
  held: { verdict: 'open', leads: false, isLoose: true },
  broadcast: { verdict: 'open', leads: true, isLoose: false },
  settled: { verdict: 'paid', leads: false, isLoose: false },
  final: { verdict: 'paid', leads: false, isLoose: false },
  failed: { verdict: 'unpaid', leads: false, isLoose: true },
  superseded: { verdict: 'follows', leads: false, isLoose: true },
  expired: { verdict: 'unpaid', leads: false, isLoose: true },
  review: { verdict: 'asked', leads: true, isLoose: true },
};

function statesThat(test: (meaning: Meaning) => boolean): readonly PaymentState[] {
  return PAYMENT_STATES.filter((state) => test(MEANINGS[state]));
}

/** States that go on by themselves: undecided, and nobody has to look. */
export const OPEN_STATES = statesThat(({ verdict }) => verdict === 'open');
/** States in which nothing is decided yet: the caller is told `settlement_pending`. */
export const UNDECIDED_STATES = statesThat(({ verdict }) => verdict === 'open' || verdict === 'asked');
/** Undecided states of a payment that may be on its way: it keeps others of the same purchase waiting. */
export const LEADING_STATES = statesThat(({ leads }) => leads);
/** States in which the payer's money has moved as far as we know: a receipt may be given. */
export const SETTLED_STATES = statesThat(({ verdict }) => verdict === 'paid');
/** Decided states with an answer of their own; a superseded payment has that of its successor. */
export const ANSWERED_STATES = statesThat(({ verdict }) => verdict === 'paid' || verdict === 'unpaid');
/** States in which the money may move although nothing of ours carries it. */
export const LOOSE_STATES = statesThat(({ isLoose }) => isLoose);

/** True in `UNDECIDED_STATES`. */
export function isUndecided(state: PaymentState): boolean {
  return UNDECIDED_STATES.includes(state);
}

/** True in `SETTLED_STATES`. */
export function isSettled(state: PaymentState): boolean {
  return SETTLED_STATES.includes(state);
}

/**
 * A claimed Transfer on chain: the evidence of one payment (safety 1). `logIndex` is the log's place among its
 * transaction's logs, which stays the same when a reorg moves the transaction to another block.
 */
export interface EvidenceRef {
  readonly txHash: string;
  readonly logIndex: number;
  readonly blockNumber: bigint;
}

/** True when two references name the same log of the same block height; a log that moved to another block is not the same. */
export function isSameEvidence(a: EvidenceRef, b: EvidenceRef): boolean {
  return a.txHash === b.txHash && a.logIndex === b.logIndex && a.blockNumber === b.blockNumber;
}

/**
 * What the machine knows of one payment. Everything a decision needs, nothing a decision may not depend on: no clock,
 * no chain, no row ids.
 */
export interface PaymentFacts {
  readonly state: PaymentState;
  /** The batch whose signed bytes carry this payment; null outside `broadcast` and after. */
  readonly batchId: string | null;
  /** How often signed bytes carrying this payment were mined without moving it. */
  readonly attempts: number;
  /** Why it failed; null unless `failed`. */
  readonly reason: FailureReason | null;
  /** True while the net of its crossings equals its price; corrections take it back to false. */
  readonly recorded: boolean;
  /** True when a `payment-failed` observation stands uncorrected. */
  readonly failureObserved: boolean;
  /**
   * True once it was held, decided against or superseded: its buyer was told that nothing goes out, or another one does. Should a reorganisation take
   * back what settled it all the same, we do not send it. False again when it is released.
   */
  readonly forgone: boolean;
  /** The Transfer that proves it; null without evidence. */
  readonly evidence: EvidenceRef | null;
  /** True until the authorization can no longer move money unnoticed. */
  readonly watched: boolean;
}

/** How often a payment goes out again after its bytes were mined in vain, before it is failed (safety 8). */
export const MAX_ATTEMPTS = 5;

/** The facts of a payment at its first moment: accepted, or held behind an open purchase. */
export function newPayment(state: 'accepted' | 'held' | 'superseded'): PaymentFacts {
  return {
    state,
    batchId: null,
    attempts: 0,
    reason: null,
    recorded: false,
    failureObserved: false,
    forgone: state !== 'accepted',
    evidence: null,
    watched: true,
  };
}

/** True for what a batch may take: stored, in none yet, and never a test key's payment, for which no money may move (safety 7). */
export function isClaimable(payment: { readonly mode: 'live' | 'mock'; readonly facts: PaymentFacts }): boolean {
  return payment.mode === 'live' && payment.facts.state === 'accepted' && payment.facts.batchId === null;
}

/**
 * True for what a batch may take that was chosen from `chosen`, an earlier look: what went out in vain since then is chosen again, since it
 * may share its next batch with fewer (safety 8).
 */
export function isStillChosen(
  payment: { readonly mode: 'live' | 'mock'; readonly facts: PaymentFacts },
  chosen: { readonly facts: Pick<PaymentFacts, 'attempts'> } | undefined,
): boolean {
  return isClaimable(payment) && payment.facts.attempts === chosen?.facts.attempts;
}

/**
 * What becomes of the time of a decision when a payment goes from one state to another. It is the first moment of the decision
 * that stands: finality and evidence in another block change no decision, and what a reorganisation took back has none.
 */
export function decisionTime(before: PaymentState, next: PaymentState): 'none' | 'kept' | 'now' {
  if (isUndecided(next)) return 'none';
  return before === next || (isSettled(before) && isSettled(next)) ? 'kept' : 'now';
}
