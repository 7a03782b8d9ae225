import {
  ApplicationFailure,
  continueAsNew,
  proxyActivities,
  proxyLocalActivities,
  sleep,
  workflowInfo,
} from '@temporalio/workflow';
import type { SettlementActivities } from '../activities/settlement.ts';
import type { BatchOutcome, BatchResult, ClaimedBatch, PaymentOutcome } from '../modules/settlement/rules/batchOutcome.ts';
import { outcomesOf, outcomeWord } from '../modules/settlement/rules/batchOutcome.ts';
import { keepStatus } from './status.ts';

type BatchStanding = Awaited<ReturnType<SettlementActivities['finishSettlement']>>;

const { confirmSettlement } = proxyLocalActivities<SettlementActivities>({
  startToCloseTimeout: '3s',
  retry: { initialInterval: '100ms', backoffCoefficient: 2, maximumInterval: '10s' }, // longer than the threshold, beyond which it waits by a timer
  localRetryThreshold: '5s',
  summary: 'first look at the receipt',
});
const { finishSettlement } = proxyLocalActivities<SettlementActivities>({
  startToCloseTimeout: '30s',
  retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '1m' },
  localRetryThreshold: '5s',
  summary: 'look at the safe block',
});
const { awaitSettlement } = proxyActivities<SettlementActivities>({
  startToCloseTimeout: '5m',
  heartbeatTimeout: '10s',
  retry: { initialInterval: '500ms', backoffCoefficient: 2, maximumInterval: '10s' },
  summary: 'wait for the receipt and its confirmations',
});

/** Where nobody can tell of bytes that went out, before the next long wait for them. */
const BLIND_MS = 5_000;

/**
 * Holds one claimed batch, as `settle:<network>:<batchId>`, until the safe block has decided what became of it. The claimant of a batch starts it, so
 * that there is none without a batch. A short local look at the receipt comes first, then one heart-beating activity that sends the bytes again where
 * they are not mined (safety 20); once all is decided it sleeps until the safe block should have come. What a reorganisation takes goes back, and is
 * waited for again. Returns what became of its payments, in sums and one by one; `Outcome` says it in a word: `sent`, then `settled`,
 * `partly_failed`, `failed`, `reverted` (all went on to another batch) or `undecided` (a person looks). Fails, with the reasons, where no payment
 * settled, and where the ledger has no such batch.
 */
export async function settlePayments(batch: ClaimedBatch): Promise<BatchResult> {
  const { network, batchId, payments, sent } = batch;
  const { txHash, nonce } = sent;
  const told = keepStatus({ state: 'sent', network, payments: payments.length, transaction: txHash, nonce });
  let standing = await confirmSettlement({ batchId });
  let word = 'sent';
  const tell = (found: BatchStanding): void => {
    const { outcome, open, isOver } = found;
    const before = word;
    word = open > 0 ? 'sent' : outcomeWord(outcome);
    const state = open > 0 ? 'sent, waits for its block' : isOver ? word : `${word}, waits for the safe block`;
    const attributes = word === before ? undefined : { Outcome: word, TxHash: outcome.txHash };
    const each = rowsOf(outcomesOf(payments, found) ?? []);
    told.tell({ state, transaction: outcome.txHash, ...countsOf(outcome), ...each }, attributes);
  };
  tell(standing);
  while (!standing.isOver) {
    if (workflowInfo().continueAsNewSuggested) await continueAsNew<typeof settlePayments>(batch);
    standing = await nextStanding(batchId, standing);
    tell(standing);
  }
  const each = outcomesOf(payments, standing);
  return end({ ...standing.outcome, ...(each && { payments: each }) });
}

/** Waits for the block of a batch whose bytes carry payments, or else for the safe block, and says how it stands then. */
async function nextStanding(batchId: string, { open, nextInMs }: BatchStanding): Promise<BatchStanding> {
  if (open === 0) {
    await sleep(nextInMs, { summary: 'until the safe block should have come' });
    return finishSettlement({ batchId });
  }
  const standing = await awaitSettlement({ batchId });
  if (standing.open > 0) await sleep(BLIND_MS, { summary: 'no node tells of it' });
  return standing;
}

function countsOf({ settled, failed, reverted, undecided, reasons }: BatchOutcome) {
  return { settled, failed, reverted, undecided, why: reasons.join(', ') || null };
}

/** A row for each payment, by its id: an operator pastes that, and reads beside it what became of the payment, and why. */
function rowsOf(payments: readonly PaymentOutcome[]) {
  return Object.fromEntries(
    payments.map(({ paymentId, became, reason }) => [paymentId, reason === undefined ? became : `${became}: ${reason}`]),
  );
}

function end(outcome: BatchResult): BatchResult {
  if (outcomeWord(outcome) !== 'failed') return outcome;
  throw ApplicationFailure.create({
    type: 'PaymentsFailed',
    message: `none of ${outcome.failed} payments settled: ${outcome.reasons.join(', ')}`,
    nonRetryable: true,
    details: [outcome],
  });
}
