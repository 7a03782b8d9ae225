import type { PaymentFacts, PaymentState } from '../../modules/kernel/payment/state.ts';
import type { Verdict } from '../../modules/settlement/rules/judge.ts';
import type { PaymentEffect, PaymentEvent } from '../../modules/settlement/rules/machine.ts';
import type { Authorization } from './token.ts';
import type { ChainTx } from './transactions.ts';

/** What a request brings: one authorization for one thing, its price and legs. Amounts in micro. */
export interface NewPayment {
  readonly id: string;
  readonly auth: Authorization;
  readonly resource: string;
  readonly kind: 'read' | 'citation';
  readonly legs: readonly { readonly toAddress: string; readonly amountMicro: bigint }[];
  readonly payerKind: 'plain' | 'contract';
  /** The head at which its nonce was seen unused before the insert (safety 2), and how many reorgs there had been. */
  readonly seenBlock: number;
  readonly seenReorgs: number;
}

/** A payment row. `batchSize`: how many shared its last batch; null before the first. */
export interface PaymentRow extends NewPayment {
  readonly batchSize: number | null;
  readonly facts: PaymentFacts;
}

/** Bytes the relayer signed; `attempt` counts the byte strings of one batch, all under its one nonce. */
export interface SignedTx {
  readonly batchId: string;
  readonly attempt: number;
  readonly kind: 'settle' | 'void';
  readonly raw: ChainTx;
}

/** A batch holds one relayer nonce for good. */
export interface BatchRow {
  readonly id: string;
  readonly nonce: number;
  readonly items: readonly string[];
  readonly attempts: readonly SignedTx[];
  readonly closed: boolean;
}

/** A batch on its way to final, and the payments that are settled in it. */
export interface UnfinalBatch {
  readonly id: string;
  readonly payments: readonly PaymentRow[];
}

/** A state change of one payment inside a database transaction; `inserted` is its first. */
export interface Change {
  readonly paymentId: string;
  readonly event: PaymentEvent['type'] | 'inserted';
  readonly before: PaymentFacts;
  readonly after: PaymentFacts;
}

/** Called with everything the transaction changed, right before its commit; throwing rolls all of it back. */
export type BeforeCommit = (changes: readonly Change[]) => void;

/** Signs bytes for a nonce and the rows that were claimed; pure, called inside the database transaction. */
export type Sign = (nonce: number, rows: readonly PaymentRow[]) => ChainTx;

/** What became of an event: `conflict` when its transfer proves another payment (safety 1). */
export interface Applied {
  readonly outcome: 'changed' | 'unchanged' | 'conflict';
  readonly effects: readonly PaymentEffect[];
}

/** A payment with everything the ledger holds of it, for the invariants. */
export interface AuditedPayment extends PaymentRow {
  readonly crossings: readonly {
    readonly amountMicro: bigint;
    readonly legs: readonly { readonly amountMicro: bigint }[];
    readonly announced: number;
  }[];
  readonly observations: readonly { readonly verdict: 'paid' | 'payment-failed'; readonly count: 1 | -1 }[];
  /** Keys `tx:logIndex` of the transfers it claims. */
  readonly claims: readonly string[];
}

/** A value now or later: the fake answers at once, Postgres with a promise. */
export type Maybe<T> = T | Promise<T>;

/**
 * The database as the money path sees it. Each method that takes `beforeCommit` is one database transaction that decides
 * with `modules/settlement/rules/machine.decide` and writes every effect with the new state, or nothing. Reads return copies.
 */
export interface Store {
  /** Inserts a payment, held when an undecided one for the same thing exists (safety 14), or returns the stored one. */
  intake(payment: NewPayment, beforeCommit: BeforeCommit): Maybe<PaymentRow>;
  /**
   * Claims up to `limit` of the chosen rows that are still accepted, in no batch and as they were, takes a nonce and stores signed bytes
   * (safety 7). Null when there is nothing to claim. The same batch id again returns the stored batch.
   */
  claim(
    batchId: string,
    chosen: readonly PaymentRow[],
    limit: number,
    sign: Sign,
    beforeCommit: BeforeCommit,
  ): Maybe<BatchRow | null>;
  /** Feeds what was judged of a payment to it, and strikes its payer with the decision (safety 19). */
  apply(id: string, verdict: Verdict, beforeCommit: BeforeCommit): Maybe<Applied>;
  /** Stores replacement bytes for a batch unless that attempt exists; returns the stored ones. */
  addAttempt(signed: SignedTx, beforeCommit: BeforeCommit): Maybe<SignedTx>;
  /** Marks a batch whose nonce is mined at or below the safe block. A second call changes nothing. */
  closeBatch(id: string, beforeCommit: BeforeCommit): Maybe<void>;
  /** Releases or supersedes what is held behind nothing undecided; the same rule as in deciding (safety 14). */
  sweepHeld(beforeCommit: BeforeCommit): Maybe<void>;
  /** Batches with payments to make final, or with nothing left to do. */
  listUnfinal(): Maybe<readonly UnfinalBatch[]>;
  /** Makes a batch final with all that is settled in it, if that is what was judged to be safe; false when it is not. */
  finalise(id: string, judgedSafe: readonly PaymentRow[], beforeCommit: BeforeCommit): Maybe<boolean>;
  /** A payment, or null. */
  find(id: string): Maybe<PaymentRow | null>;
  /** A batch, or null. */
  findBatch(id: string): Maybe<BatchRow | null>;
  /** Payments in one of the states, oldest first; `watchedOnly` leaves out what can never change. */
  list(states: readonly PaymentState[], watchedOnly: boolean): Maybe<readonly PaymentRow[]>;
  /** The named payments with their ledger rows. */
  audit(ids: readonly string[]): Maybe<readonly AuditedPayment[]>;
  /** Opens a closed batch again, whose bytes a reorg took. */
  reopenBatch(id: string, beforeCommit: BeforeCommit): Maybe<void>;
  /** Where the relayer stands. */
  findNonce(): Maybe<{ readonly nextNonce: bigint; readonly inFlight: number }>;
  /** Takes the chain's count for the next nonce when it is ahead: the key was used elsewhere. */
  adoptNonce(count: number, beforeCommit: BeforeCommit): Maybe<void>;
  /** Batches that are open, and those that hold a nonce from `fromNonce` on, in order of nonce. */
  listBatches(fromNonce: number | null): Maybe<readonly BatchRow[]>;
}
