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

/** What the workflow of a batch is started with, for the UI: a line, and the attributes it is found by. */
export function batchStart({ network, payments, sent }: Omit<ClaimedBatch, 'batchId'>): {
  readonly summary: string;
  readonly attributes: Attributes;
} {
  const sites = new Set(payments.map(({ tenantId }) => tenantId)).size;
  const carried = `${counted(payments.length, 'payment')} of ${counted(sites, 'site')}`;
  const { txHash: hash, nonce } = sent;
  return {
    summary: hash === null ? carried : `${carried}, ${hash.slice(0, 10)}…, nonce ${nonce}`,
    attributes: { ...paymentAttributes(network, payments), TxHash: hash, Outcome: 'sent' },
  };
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
