import type { PaymentState } from '../../kernel/payment/state.ts';
import { isSettled, isUndecided } from '../../kernel/payment/state.ts';
import type { Attributes } from '../../kernel/workflow/attributes.ts';
import { paymentAttributes } from '../../kernel/workflow/attributes.ts';

/** What became of a batch's payments so far. */
export interface BatchOutcome {
  readonly settled: number;
  /** Decided against, or superseded by another payment. */
  readonly failed: number;
  /** Went on to another batch, since the transaction of this one moved nothing. */
  readonly reverted: number;
  readonly undecided: number;
  /** Why payments failed, each reason once. */
  readonly reasons: readonly string[];
  /** The transaction that was mined, before that the one signed last; null where another one's facilitator carries it. */
  readonly txHash: string | null;
}

/** What became of one payment of a batch so far. */
export interface PaymentOutcome {
  readonly paymentId: string;
  /** A state of a payment; `sent` waits for its block, `returned` went on to another batch. */
  readonly became: Exclude<PaymentState, 'broadcast' | 'final'> | 'sent' | 'returned';
  /** Why it failed; left out without a reason. */
  readonly reason?: string;
}

/** What the workflow of a batch ends with: the sums, and what became of each payment, in the order of the batch. */
export interface BatchResult extends BatchOutcome {
  /** Left out where a look of a former release did not say. At most a hundred, of about a hundred bytes each. */
  readonly payments?: readonly PaymentOutcome[];
}

/** What the rows say of a batch. */
export interface BatchSums {
  readonly outcome: BatchOutcome;
  /** Payments that its bytes still carry: none of them is decided. */
  readonly open: number;
  /** Those that have not settled; left out while all are sent, so that a look which finds nothing, or no failure, is as small as ever. */
  readonly unsettled?: readonly PaymentOutcome[];
}

/** One payment of a batch as its row has it; a null `state`: it went on without the batch. */
export interface CarriedPayment {
  readonly paymentId: string;
  readonly state: PaymentState | null;
  readonly reason: string | null;
}

/** What was signed for a batch; nulls where a facilitator carries it. */
export interface SentTransaction {
  readonly txHash: string | null;
  readonly nonce: string | null;
}

type Refs = readonly { readonly tenantId: string; readonly paymentId: string }[];

/** A claimed batch, as its workflow is started with it: ids, and what was signed (safety 20). */
export interface ClaimedBatch {
  readonly network: string;
  readonly batchId: string;
  readonly payments: Refs;
  readonly sent: SentTransaction;
}

/** The workflow that stays with a batch. */
export function workflowIdOf({ network, batchId }: Pick<ClaimedBatch, 'network' | 'batchId'>): string {
  return `settle:${network}:${batchId}`;
}

/** The `Outcome` of a batch in one word. */
export function outcomeWord({ settled, failed, reverted, undecided }: BatchOutcome): string {
  if (undecided > 0) return 'undecided';
  if (failed > 0) return settled + reverted > 0 ? 'partly_failed' : 'failed';
  return settled > 0 ? 'settled' : 'reverted';
}

/** Sums up what became of the payments of a batch. */
export function sumUp(carried: readonly CarriedPayment[], txHash: string | null): BatchSums {
  const counted = (test: (state: PaymentState) => boolean): number =>
    carried.filter(({ state }) => state !== null && test(state)).length;
  const settled = counted(isSettled);
  const undecided = counted(isUndecided);
  const reverted = carried.filter(({ state }) => state === null).length;
  const open = counted((state) => state === 'broadcast');
  const failed = carried.length - settled - undecided - reverted;
  const reasons = [...new Set(carried.flatMap(({ reason }) => reason ?? []))].sort();
  const outcome = { settled, failed, reverted, undecided, reasons, txHash };
  if (open === carried.length) return { outcome, open };
  return { outcome, open, unsettled: carried.map(outcomeOfPayment).filter(({ became }) => became !== 'settled') };
}

function outcomeOfPayment({ paymentId, state, reason }: CarriedPayment): PaymentOutcome {
  return { paymentId, became: becameOf(state), ...(reason !== null && { reason }) };
}

function becameOf(state: PaymentState | null): PaymentOutcome['became'] {
  if (state === null) return 'returned';
  if (state === 'broadcast') return 'sent';
  return state === 'final' ? 'settled' : state;
}

/** What became of each payment of a batch; null where a look of a former release did not say. */
export function outcomesOf(
  payments: readonly { readonly paymentId: string }[],
  { unsettled, open }: Pick<BatchSums, 'unsettled' | 'open'>,
): readonly PaymentOutcome[] | null {
  if (unsettled === undefined) return open > 0 ? payments.map(({ paymentId }) => ({ paymentId, became: 'sent' })) : null;
  const apart = new Map(unsettled.map((payment) => [payment.paymentId, payment]));
  return payments.map(({ paymentId }) => apart.get(paymentId) ?? { paymentId, became: 'settled' });
}

/** What the workflow of a batch is started with, for the UI: a line, and the attributes it is found by. */
export function batchStart({ network, payments, sent }: Omit<ClaimedBatch, 'batchId'>): {
  readonly summary: string;
  readonly attributes: Attributes;
} {
  const sites = new Set(payments.map(({ tenantId }) => tenantId)).size;
  const carried = `${numbered(payments.length, 'payment')} of ${numbered(sites, 'site')}`;
  const { txHash: hash, nonce } = sent;
  return {
    summary: hash === null ? carried : `${carried}, ${hash.slice(0, 10)}…, nonce ${nonce}`,
    attributes: { ...paymentAttributes(network, payments), TxHash: hash, Outcome: 'sent' },
  };
}

function numbered(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
