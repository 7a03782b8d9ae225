import type { FailureReason } from '../../kernel/errors.ts';
import type { Sight, Spending } from '../../kernel/payment/sight.ts';
import type { EvidenceRef, PaymentFacts } from '../../kernel/payment/state.ts';
import { isSameEvidence, isSettled, isUndecided } from '../../kernel/payment/state.ts';
import { checkTimes } from '../../kernel/x402/authorization.ts';
import type { PaymentEvent } from './machine.ts';

/** What a judgement needs of a payment. */
export interface JudgedPayment {
  readonly facts: PaymentFacts;
  readonly payTo: string;
  readonly amountMicro: bigint;
  /** Epoch seconds, as signed. */
  readonly validAfter: bigint;
  readonly validBefore: bigint;
  /** `contract`: the payer is a wallet with code, which may say yes when asked and no when it counts. */
  readonly payerKind: 'plain' | 'contract';
  /** When it was taken in. */
  readonly acceptedAt: Date;
  /** True where its payer's own payments kept it waiting (`listBehindOwn`). */
  readonly isBehindOwn?: boolean;
}

/** The moment of a judgement, and what its network asks for. */
export interface Moment {
  /** Our clock, epoch seconds, whole. */
  readonly seconds: number;
  readonly blockTimeMs: number;
  /** Blocks that must stand on the evidence of an amount, its own included. */
  readonly confirmationsFor: (amountMicro: bigint) => number;
}

/** What happened to a payment, and what is worth keeping beside the event. */
export interface Verdict {
  readonly event: PaymentEvent;
  /** The reason in the words of its source. */
  readonly rawReason?: string;
  /** What the caller is told. */
  readonly sentence?: string;
  /** Time of the evidence's block, epoch seconds. */
  readonly timeSeconds?: bigint;
  /** Gas was spent for nothing, and the payer could have known (safety 19). */
  readonly strike?: true;
}

/** What a caller is told when an author cannot be paid. */
export const SENTENCE_BLOCKED = 'an author of this page cannot receive payments right now';
/** What a caller is told for a reason that only the chain could name. */
export const SENTENCES: Readonly<Record<FailureReason, string>> = {
  insufficient_funds: 'the payer does not hold enough of the asset',
  authorization_invalid: 'the token does not accept this authorization',
  malformed_payment: 'the payment cannot be read',
  network_unsupported: 'the asset or network is not supported',
  settlement_failed: 'the token refuses this transfer',
};
const SENTENCE_SPENT = 'the authorization was used or cancelled elsewhere';
const SENTENCE_EXPIRED = 'the authorization expired before it was executed';
const SENTENCE_WAITED = 'the payment waited here until its authorization ended; nothing was sent';
/** Its time was enough when it was taken in, and ended before it was sent: our delay and no mistake of the buyer's; an operator hears of it. */
export const RAW_EXPIRED_WAITING = 'expired_waiting';
/** The same where its payer's own payments went before it, a full window and more, until its end: the payer's doing, and nobody is woken. */
const RAW_EXPIRED_BEHIND_OWN = 'expired_behind_own';
const SENTENCE_BEHIND_OWN = 'the payment waited behind others of its payer until its authorization ended; nothing was sent';
/** A payment that ran out sooner after it was taken in was signed for too short a time, milliseconds: a buyer must not be able to page an operator. */
export const OUR_DELAY_MS = 30_000;
const SENTENCE_REFUSED = 'the facilitator of this network refuses the payment';

/** A sent payment without an answer this long after its authorization's end is a person's to look at. */
export const REVIEW_AFTER_SECONDS = 600n;

type Rule = (payment: JudgedPayment, sight: Sight | null, now: Moment) => Verdict | 'wait' | null;

/**
 * What the chain means for a payment: the event that happened to it, or `wait` when nothing is decided. The only place where an event
 * of the chain is born; confirming, watching, sweeping and examining before sending all ask here. Rules are asked in order, the first
 * that speaks decides. `sight` is null when no node answered: then only clocks speak. Pure; the same input gives the same verdict.
 * An accepted payment that waits and whose simulation passed may be sent.
 */
export function judge(payment: JudgedPayment, sight: Sight | null, now: Moment): Verdict | 'wait' {
  for (const rule of isSettled(payment.facts.state) ? OF_SETTLED : OF_UNSETTLED) {
    const verdict = rule(payment, sight, now);
    if (verdict !== null) return verdict;
  }
  return 'wait';
}

/**
 * True for a sent payment whose bytes ran, or were refused by its rail, and whose nonce is unused: a simulation tells why, and `judge`
 * waits for it.
 */
export function isUnexplained({ facts }: JudgedPayment, { nonce, spending, carrier, rail, simulation }: Sight): boolean {
  if (facts.state !== 'broadcast' || nonce === 'used' || spending !== null || simulation !== null) return false;
  const hasRun = carrier?.batchId === facts.batchId && (carrier?.fate === 'executed' || carrier?.fate === 'reverted');
  return hasRun || rail?.kind === 'refused';
}

/** Nodes that contradict each other decide nothing; what one alone shows counts at the safe block. */
function isDoubtful({ doubt, spending, safe, carrier }: Sight): boolean {
  const block = spending === null ? carrier?.blockNumber : blockOf(spending);
  const isSafe = block !== undefined && safe !== null && block <= safe.blockNumber;
  return doubt === 'disputed' || (doubt === 'unconfirmed' && !isSafe);
}

function blockOf(spending: Spending): bigint {
  return spending.kind === 'transfer' ? spending.transfer.blockNumber : spending.blockNumber;
}

/** Settled: is its evidence still there, where it was, and safe? */
const OF_SETTLED: readonly Rule[] = [
  // Without an answer nothing is taken back.
  (_payment, sight) => (sight === null ? 'wait' : null),
  settledByRail,
  (_payment, sight) => (sight && isDoubtful(sight) ? 'wait' : null),
  // There, or moved: in the same place it becomes final at the safe block, elsewhere it is followed. What was final is corrected first
  // where another transaction pays it now, since its announcement named the former one.
  (payment, sight) => {
    const paid = sight && payingTransfer(payment, sight.spending);
    if (!paid || !sight) return null;
    const { state, evidence: known } = payment.facts;
    if (state === 'final' && known !== null && known.txHash !== paid.transfer.txHash) return takenBack(known, sight);
    if (!isKnown(payment, paid.transfer)) return evidence(paid, known);
    const isSafe = sight.safe !== null && paid.transfer.blockNumber <= sight.safe.blockNumber;
    return isSafe && state === 'settled' ? { event: { type: 'safe', transfer: paid.transfer } } : 'wait';
  },
  // Gone, unless no log shows yet where the nonce went.
  ({ facts }, sight) => {
    if (facts.evidence === null || !sight || (sight.spending === null && sight.nonce === 'used')) return 'wait';
    return takenBack(facts.evidence, sight);
  },
];

/** Evidence is gone only for a node that is as far as it was: one that is behind does not show it yet. */
function takenBack(known: EvidenceRef, { head }: Sight): Verdict | 'wait' {
  return head < known.blockNumber ? 'wait' : { event: { type: 'reorged', transfer: known } };
}

/** Money that moved under an id of the rail: its status call is all the evidence there is. */
function settledByRail({ facts }: JudgedPayment, sight: Sight | null): Verdict | 'wait' | null {
  const { evidence: known } = facts;
  if (known === null || known.txHash.startsWith('0x')) return null;
  const word = sight?.rail;
  if (word?.kind === 'moved' && word.id === known.txHash) return { event: { type: 'safe', transfer: known } };
  if (word?.kind === 'gone' && word.id === known.txHash) return { event: { type: 'reorged', transfer: known } };
  return 'wait';
}

/** Not settled: has the money moved, can it still move, should it be sent? */
const OF_UNSETTLED: readonly Rule[] = [
  (payment, sight, now) => (sight && isDoubtful(sight) ? (overdue(payment, now) ?? 'wait') : null),
  // It moved as agreed: settled as soon as enough blocks stand on it (safety 1, 3).
  (payment, sight, now) => {
    const paid = sight && payingTransfer(payment, sight.spending);
    if (!paid || !sight) return null;
    const depth = sight.head - paid.transfer.blockNumber + 1n;
    return depth >= BigInt(now.confirmationsFor(payment.amountMicro)) ? evidence(paid, null) : 'wait';
  },
  movedByRail,
  spentOtherwise,
  // Used, and no log shows how yet: nothing below may take it for unused.
  (payment, sight, now) => (sight?.nonce === 'used' ? (overdue(payment, now) ?? 'wait') : null),
  expired,
  tooLateToSend,
  unfitToSend,
  notMoved,
  refusedByRail,
  (payment, _sight, now) => overdue(payment, now),
];

/** The rail moved the money under an id of its own, or is about to: then the nonce says nothing. */
function movedByRail(payment: JudgedPayment, sight: Sight | null, now: Moment): Verdict | 'wait' | null {
  const word = sight?.rail;
  if (word?.kind === 'moved') {
    return {
      event: { type: 'evidence', transfer: { txHash: word.id, logIndex: 0, blockNumber: 0n } },
      timeSeconds: BigInt(now.seconds),
    };
  }
  return word?.kind === 'moving' ? (overdue(payment, now) ?? 'wait') : null;
}

/** The nonce went elsewhere or was cancelled: failed at once, watched until that block is safe, for it may be reorged (safety 3). */
function spentOtherwise({ facts }: JudgedPayment, sight: Sight | null): Verdict | 'wait' | null {
  if (!sight?.spending) return null;
  const { spending, safe } = sight;
  const blockNumber = blockOf(spending);
  const rawReason = spending.kind === 'transfer' ? 'authorization_used_otherwise' : `authorization_${spending.kind}`;
  if (safe !== null && blockNumber <= safe.blockNumber) {
    return { event: { type: 'unusable' }, ...(isUndecided(facts.state) && { rawReason, sentence: SENTENCE_SPENT }) };
  }
  return isUndecided(facts.state) ? { event: { type: 'spentOtherwise' }, rawReason, sentence: SENTENCE_SPENT } : 'wait';
}

/** At the safe block its time is over and its nonce unused: it can never move money any more. */
function expired(payment: JudgedPayment, sight: Sight | null, now: Moment): Verdict | null {
  const { facts, validBefore } = payment;
  if (!sight?.safe || sight.safe.nonce === 'used' || sight.safe.timeSeconds <= validBefore) return null;
  if (facts.state === 'accepted' && isOurDelay(payment, now)) {
    const event = { type: 'unusable', reason: 'settlement_failed' } as const;
    return { event, rawReason: RAW_EXPIRED_WAITING, sentence: SENTENCE_WAITED };
  }
  const told = isUndecided(facts.state) && { rawReason: 'payment_expired', sentence: SENTENCE_EXPIRED };
  return { event: { type: 'unusable' }, ...told };
}

/** Not sent yet, and it could run out on its way (safety 10). */
function tooLateToSend(payment: JudgedPayment, _sight: Sight | null, now: Moment): Verdict | null {
  const { state } = payment.facts;
  if (state !== 'accepted' && state !== 'held') return null;
  const late = checkTimes(payment, now.seconds, now);
  if (!late) return null;
  if (state === 'held') return { event: { type: 'lapsed' } };
  if (late.isOver && payment.isBehindOwn) {
    return { event: { type: 'refused', reason: late.reason }, rawReason: RAW_EXPIRED_BEHIND_OWN, sentence: SENTENCE_BEHIND_OWN };
  }
  if (late.isOver && isOurDelay(payment, now)) {
    return { event: { type: 'refused', reason: 'settlement_failed' }, rawReason: RAW_EXPIRED_WAITING, sentence: SENTENCE_WAITED };
  }
  return { event: { type: 'refused', reason: late.reason }, rawReason: late.raw, sentence: late.sentence };
}

/** True for a payment that was never sent, and waited for us, and not for its payer's own, for long enough that its end was not the buyer's choice. */
function isOurDelay({ facts, acceptedAt, isBehindOwn }: JudgedPayment, now: Moment): boolean {
  return !isBehindOwn && facts.attempts === 0 && now.seconds * 1_000 - acceptedAt.getTime() >= OUR_DELAY_MS;
}

/** Not sent yet, and the chain would not take it. */
function unfitToSend({ facts }: JudgedPayment, sight: Sight | null): Verdict | null {
  const found = sight?.simulation;
  if (facts.state !== 'accepted' || !found || found.kind === 'passed') return null;
  const { reason, raw, sentence } = reasonOf(found);
  return { event: { type: 'refused', reason }, rawReason: raw, sentence };
}

/**
 * Our bytes are mined and moved nothing of this payment. What never ran goes out again; what ran is diagnosed by a simulation of now:
 * a payer or author whom the token refuses fails. A batch that reverted is sent again in smaller parts; alone, a revert is the
 * payment's own. What passes now and did not when it counted was the payer's doing: his money had left, or his wallet's code said
 * otherwise. He is struck; a wallet of code is believed once.
 */
function notMoved(payment: JudgedPayment, sight: Sight | null, now: Moment): Verdict | 'wait' | null {
  const { facts, payerKind } = payment;
  const carrier = sight?.carrier;
  if (facts.state !== 'broadcast' || !carrier || carrier.batchId !== facts.batchId) return null;
  const unsent = { type: 'unsent', batchId: carrier.batchId } as const;
  if (carrier.fate === 'voided' || carrier.fate === 'overtaken') return { event: unsent };
  const found = sight.simulation;
  if (!found) return 'wait';
  const failed = (reason: FailureReason) => ({ type: 'itemFailed', batchId: carrier.batchId, reason }) as const;
  if (found.kind !== 'passed') {
    const { reason, raw, sentence } = reasonOf(found);
    const isStrike = found.kind === 'refused' && isPayersFault(payment, reason, now);
    return { event: failed(reason), rawReason: raw, sentence, ...(isStrike && { strike: true }) };
  }
  if (carrier.fate === 'reverted') {
    if (carrier.size > 1) return { event: unsent };
    return {
      event: failed('settlement_failed'),
      rawReason: 'reverted_alone',
      sentence: SENTENCES.settlement_failed,
      strike: true,
    };
  }
  if (payerKind === 'plain' || facts.attempts === 0) return { event: unsent, strike: true };
  const sentence = SENTENCES.authorization_invalid;
  return { event: failed('settlement_failed'), rawReason: 'contract_payer_failed', sentence, strike: true };
}

/**
 * True when the payer could have known that the item would fail: not where its time ran out on the way, nor where the token refuses
 * transfers for a reason of its own. A wallet of code chooses what it reverts with.
 */
function isPayersFault({ payerKind, validBefore }: JudgedPayment, reason: FailureReason, now: Moment): boolean {
  return payerKind === 'contract' || (reason !== 'settlement_failed' && BigInt(now.seconds) < validBefore);
}

/** The rail refuses what the nonce shows unused: the chain's own reason counts first, then the rail's, if it is believed. */
function refusedByRail({ facts }: JudgedPayment, sight: Sight | null): Verdict | 'wait' | null {
  const word = sight?.rail;
  if (facts.state !== 'broadcast' || facts.batchId === null || word?.kind !== 'refused') return null;
  const found = sight?.simulation;
  if (!found) return null;
  const failed = (reason: FailureReason) => ({ type: 'itemFailed', batchId: facts.batchId as string, reason }) as const;
  if (found.kind !== 'passed') {
    const { reason, raw, sentence } = reasonOf(found);
    return { event: failed(reason), rawReason: raw, sentence };
  }
  if (!word.believed) return null;
  return { event: failed(word.believed.reason), rawReason: word.believed.raw, sentence: SENTENCE_REFUSED };
}

/** Sent, and no answer long after its time. */
function overdue({ facts, validBefore }: JudgedPayment, now: Moment): Verdict | null {
  const isOver = facts.state === 'broadcast' && BigInt(now.seconds) > validBefore + REVIEW_AFTER_SECONDS;
  return isOver ? { event: { type: 'overdue' } } : null;
}

type PayingTransfer = Extract<Spending, { kind: 'transfer' }>;

/** The spending, when it is the transfer that was agreed: to the right address, of the right value (safety 1). */
export function payingTransfer(
  payment: Pick<JudgedPayment, 'payTo' | 'amountMicro'>,
  spending: Spending | null,
): PayingTransfer | null {
  if (spending?.kind !== 'transfer') return null;
  return spending.to === payment.payTo && spending.valueMicro === payment.amountMicro ? spending : null;
}

/** It is proven, or, with `from`, its proof has moved. */
function evidence({ transfer, timeSeconds }: PayingTransfer, from: EvidenceRef | null): Verdict {
  return { event: { type: 'evidence', transfer, ...(from && { from }) }, timeSeconds };
}

function isKnown({ facts }: JudgedPayment, transfer: EvidenceRef): boolean {
  return facts.evidence !== null && isSameEvidence(facts.evidence, transfer);
}

function reasonOf(found: Exclude<NonNullable<Sight['simulation']>, { kind: 'passed' }>) {
  if (found.kind === 'payee_blocked') {
    return { reason: 'settlement_failed', raw: 'payee_blocked', sentence: SENTENCE_BLOCKED } as const;
  }
  return { reason: found.reason, raw: found.raw, sentence: SENTENCES[found.reason] };
}
