import type { EvidenceRef, PaymentFacts } from '../../modules/kernel/payment/state.ts';
import type { BatchRow, Change, NewPayment } from './store.ts';

/** A crossing: positive when recorded, negative when corrected; rows never change (safety 5). */
export interface CrossingRow {
  readonly amountMicro: bigint;
  readonly legs: readonly { readonly toAddress: string; readonly amountMicro: bigint }[];
  announced: number;
}

/** A payment with the rows that belong to it. */
export interface StoredPayment extends NewPayment {
  /** As its own row has them: what is final with its batch is settled here. */
  facts: PaymentFacts;
  /** It settled in a batch that was final already. */
  ownFinality: boolean;
  batchSize: number | null;
  readonly sequence: number;
  readonly crossings: CrossingRow[];
  readonly observations: { verdict: 'paid' | 'payment-failed'; count: 1 | -1 }[];
  /** When the decision that stands was made, as a sequence number; null while undecided. */
  decidedAt: number | null;
  /** When it settled for the first time. */
  settledAtMs: number | null;
}

/** Tables in memory with an undo log: a database transaction is a mark to which everything can be put back. */
export class Tables {
  readonly payments = new Map<string, StoredPayment>();
  readonly claims = new Map<string, string>(); // tx:logIndex → payment id
  readonly batches = new Map<string, BatchRow>();
  readonly finalBatches = new Map<string, true>();
  readonly strikes: string[] = []; // payers, one entry a strike
  nextNonce = 0;
  sequence = 0;
  changes: Change[] = [];
  private undo: (() => void)[] = [];

  /** Runs the body as one database transaction: a throw, also from `beforeCommit`, leaves nothing behind. */
  transaction<T>(body: () => T, beforeCommit: (changes: readonly Change[]) => void): T {
    this.undo = [];
    this.changes = [];
    try {
      const result = body();
      beforeCommit(this.changes);
      return result;
    } catch (error) {
      for (const step of this.undo.reverse()) step();
      throw error;
    }
  }

  /** Notes how to take a write back. */
  onRollback(step: () => void): void {
    this.undo.push(step);
  }

  /** Appends to a list of rows. */
  append<T>(list: T[], row: T): void {
    list.push(row);
    this.undo.push(() => list.pop());
  }

  /** Sets a key of a table. */
  put<V>(table: Map<string, V>, key: string, value: V): void {
    const old = table.get(key);
    table.set(key, value);
    this.undo.push(() => (old === undefined ? table.delete(key) : table.set(key, old)));
  }

  /** Removes a key of a table. */
  remove<V>(table: Map<string, V>, key: string): void {
    const old = table.get(key);
    if (old === undefined) return;
    table.delete(key);
    this.undo.push(() => table.set(key, old));
  }

  /** The next sequence number; gaps after a rollback are fine. */
  tick(): number {
    this.sequence += 1;
    return this.sequence;
  }
}

/** The key under which a transfer is claimed by one payment (safety 1). */
export function claimKey(transfer: EvidenceRef): string {
  return `${transfer.txHash}:${transfer.logIndex}`;
}
