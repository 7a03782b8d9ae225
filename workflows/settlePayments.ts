import { ApplicationFailure, proxyActivities, proxyLocalActivities, sleep } from '@temporalio/workflow';
import type { SettlementActivities } from '../activities/settlement.ts';
import { paymentAttributes } from '../modules/kernel/workflow/attributes.ts';
import type { BatchOutcome, SentTransaction } from '../modules/settlement/rules/batchOutcome.ts';
import { outcomeWord } from '../modules/settlement/rules/batchOutcome.ts';
import { startBatch } from './startBatch.ts';
import type { Told } from './status.ts';
import { keepStatus } from './status.ts';

/** What a batch is started with: ids only (safety 20). */
export interface SettlePaymentsInput {
  readonly network: string;
  readonly batchId: string;
  readonly payments: readonly { readonly tenantId: string; readonly paymentId: string }[];
  /** Where it has gone out already, with these payments. */
  readonly sent?: SentTransaction;
}

type Sent = Awaited<ReturnType<SettlementActivities['sendSettlement']>>;

const SHORT = {
  startToCloseTimeout: '3s',
  retry: { initialInterval: '100ms', backoffCoefficient: 2, maximumInterval: '5s' },
} as const;
const { sendSettlement } = proxyLocalActivities<SettlementActivities>({ ...SHORT, summary: 'claim, sign and send' });
const { confirmSettlement } = proxyLocalActivities<SettlementActivities>({ ...SHORT, summary: 'first look at the receipt' });
const { awaitSettlement } = proxyActivities<SettlementActivities>({
  startToCloseTimeout: '5m',
  heartbeatTimeout: '10s',
  retry: { initialInterval: '500ms', backoffCoefficient: 2, maximumInterval: '10s' },
  summary: 'wait for the receipt and its confirmations',
});

const BUSY_ROUNDS = 40;
const BUSY_MS = 250;

/**
 * Settles one batch of payments, as `settle:<network>:<batchId>`. Its arguments are proposals: the first
 * activity claims, signs and sends what is still open (safety 7); then it stays with the batch until every payment in it
 * is decided, first by short local looks, then by one heart-beating activity (safety 20). Payments that need another
 * batch get one of their own. Returns what became of its payments; `Outcome` says it in a word: `sending`, `sent`, then `settled`,
 * `partly_failed`, `failed`, `reverted` (all went on to another batch), `undecided` (the sweeper goes on) or `idle` (nothing to send, or
 * all queues were full, and the sweeper comes again). Fails, with the reasons, where no payment settled.
 */
export async function settlePayments(input: SettlePaymentsInput): Promise<BatchOutcome> {
  const { network, batchId, payments } = input;
  const told = keepStatus({
    state: input.sent ? 'sent' : 'sending',
    network,
    payments: payments.length,
    transaction: input.sent?.txHash ?? null,
    nonce: input.sent?.nonce ?? null,
  });
  const sent = await send(input, told);
  await startBatch({ network, payments: sent.rest });
  if (sent.kind !== 'sent') return end(told, { settled: 0, failed: 0, reverted: 0, undecided: 0, reasons: [], txHash: null });
  if (sent.batch) {
    const { payments: carried, txHash, nonce } = sent.batch;
    const attributes = { ...paymentAttributes(network, carried), TxHash: txHash, Outcome: 'sent' };
    told.tell({ state: 'sent, waits for its block', payments: carried.length, transaction: txHash, nonce }, attributes);
  }
  const first = await confirmSettlement({ batchId });
  await startBatch({ network, payments: first.rest });
  if (first.undecided === 0) return end(told, first.outcome);
  told.tell({ state: 'sent, waits for its block', ...countsOf(first.outcome) });
  const last = await awaitSettlement({ batchId });
  await startBatch({ network, payments: last.rest });
  return end(told, last.outcome);
}

async function send(input: SettlePaymentsInput, told: Told): Promise<Sent> {
  for (let round = 0; ; round++) {
    const result = await sendSettlement(input);
    if (result.kind !== 'busy' || round === BUSY_ROUNDS) return result;
    await startBatch({ network: input.network, payments: result.rest });
    if (round === 0) told.tell({ state: 'waits for room in a queue' });
    await sleep(BUSY_MS, { summary: 'every queue is full' });
  }
}

function countsOf({ settled, failed, reverted, undecided, reasons }: BatchOutcome) {
  return { settled, failed, reverted, undecided, why: reasons.join(', ') || null };
}

function end(told: Told, outcome: BatchOutcome): BatchOutcome {
  const word = outcomeWord(outcome);
  told.tell({ state: word, ...countsOf(outcome) }, { Outcome: word, TxHash: outcome.txHash });
  if (word !== 'failed') return outcome;
  throw ApplicationFailure.create({
    type: 'PaymentsFailed',
    message: `none of ${outcome.failed} payments settled: ${outcome.reasons.join(', ')}`,
    nonRetryable: true,
    details: [outcome],
  });
}
