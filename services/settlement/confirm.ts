import type { Network } from '../../chain/network.ts';
import { precheck } from '../../chain/precheck.ts';
import type { Receipt } from '../../chain/receipts.ts';
import { blockNumbers, waitForReceipt } from '../../chain/receipts.ts';
import type { Rpc } from '../../chain/rpc.ts';
import { addGasUsage, addStrike } from '../../db/settlement/admission.ts';
import type { Applied, Occurrence } from '../../db/settlement/outcome.ts';
import { applyEvents } from '../../db/settlement/outcome.ts';
import type { Payment, PaymentRef } from '../../db/settlement/payment.ts';
import { countBroadcast, listBatchPayments, listStates } from '../../db/settlement/payment.ts';
import type { Batch } from '../../db/settlement/relayer.ts';
import { findBatch, listAttempts, markMined } from '../../db/settlement/relayer.ts';
import type { FailureReason } from '../../domain/errors.ts';
import type { SettlementDeps } from './deps.ts';
import { chainOf } from './deps.ts';
import { evidenceEvent, evidenceIn, isConfirmed, judgeByLog, storeReceipt } from './evidence.ts';
import { isPayeeBlocked, markPayee, SENTENCE_BLOCKED, SENTENCES, simulatePayees } from './examine.ts';
import { batchItem } from './items.ts';
import { raiseFees, sendBatch } from './lane.ts';

/** What confirming a batch came to. */
export interface ConfirmResult {
  /** Payments of the batch that are still undecided. */
  readonly undecided: number;
  /** Payments that need another batch now. */
  readonly rest: readonly PaymentRef[];
}

/**
 * Waits for a batch's transaction, whichever of its attempts is mined, and decides each payment from what the chain shows
 * as soon as its own confirmations are there (safety 1, 3, 20). No receipt within `timeoutMs` decides nothing (never a
 * failure): the bytes go out again and, when they stay unmined, with higher fees. Calling it again is harmless.
 */
export async function confirmBatch(
  deps: SettlementDeps,
  batchId: string,
  options: { readonly timeoutMs: number; readonly signal?: AbortSignal },
): Promise<ConfirmResult> {
  const batch = await findBatch(deps.database, batchId);
  if (!batch) return { undecided: 0, rest: [] };
  const { network, rpc } = chainOf(deps, batch.network);
  const hashes = (await listAttempts(deps.database, batchId)).map((attempt) => attempt.txHash);
  const receipt = await waitForReceipt(rpc, hashes, options);
  const open = (await listBatchPayments(deps.database, batchId)).filter((p) => p.facts.state === 'broadcast');
  if (!receipt) {
    await sendBatch(deps, network, rpc, batchId);
    await raiseFees(deps, network, rpc, batch);
    return { undecided: open.length, rest: [] };
  }
  deps.crashAt('after_receipt');
  const released = await decideFromReceipt(deps, network, rpc, batch, receipt, open);
  deps.crashAt('after_record');
  const undecided = await countBroadcast(deps.database, batchId);
  return { undecided, rest: [...released, ...(await reaccepted(deps, open))] };
}

/** Payments that went back to `accepted`: they go out again under a new nonce. */
async function reaccepted(deps: SettlementDeps, payments: readonly Payment[]): Promise<PaymentRef[]> {
  const rows = await listStates(deps.database, payments);
  return rows.filter((row) => row.state === 'accepted').map(({ tenantId, paymentId }) => ({ tenantId, paymentId }));
}

/** What is proven is recorded first: nothing that keeps another payment undecided may hold it up (safety 20). */
async function decideFromReceipt(
  deps: SettlementDeps,
  network: Network,
  rpc: Rpc,
  batch: Batch,
  receipt: Receipt,
  payments: readonly Payment[],
): Promise<readonly PaymentRef[]> {
  const blockTime = await storeReceipt(deps, network, rpc, receipt);
  const { latest } = await blockNumbers(rpc);
  const occurrences: Occurrence[] = [];
  const missing: Payment[] = [];
  for (const payment of payments) {
    const transfer = evidenceIn(network, receipt, payment);
    if (!transfer) missing.push(payment);
    else if (isConfirmed(network, payment, transfer.blockNumber, latest)) {
      occurrences.push(evidenceEvent(payment, transfer, blockTime));
    }
  }
  const proven = await record(deps, batch, occurrences);
  const judged = await judgeMissing(deps, network, rpc, batch, receipt, missing);
  const decided = await record(deps, batch, judged.occurrences);
  const changed = new Set(decided.changed.map((ref) => ref.paymentId));
  for (const payment of judged.strikes) {
    if (changed.has(payment.paymentId)) await addStrike(deps.database, network.id, payment.payer);
  }
  if (await markMined(deps.database, batch.batchId)) await noteGas(deps, receipt, payments);
  return [...proven.released, ...decided.released];
}

async function record(deps: SettlementDeps, batch: Batch, occurrences: readonly Occurrence[]): Promise<Applied> {
  const applied = await applyEvents(deps.database, occurrences);
  for (const poisoned of applied.poisoned) {
    deps.log.error({ paymentId: poisoned.paymentId, batchId: batch.batchId }, 'a paid payment could not be recorded');
  }
  return applied;
}

/** Spreads the transaction's gas over the tenants of its payments (safety 19). */
async function noteGas(deps: SettlementDeps, receipt: Receipt, payments: readonly Payment[]): Promise<void> {
  if (payments.length === 0) return;
  deps.metrics?.record('svc.settle.gas_per_payment', Number(receipt.gasUsed) / payments.length);
  const each = (receipt.gasUsed * receipt.effectiveGasPriceWei) / BigInt(payments.length);
  const usage = new Map<string, bigint>();
  for (const { tenantId } of payments) usage.set(tenantId, (usage.get(tenantId) ?? 0n) + each);
  await addGasUsage(deps.database, usage);
}

/** What is known of payments that a mined transaction did not move. */
interface Missed {
  readonly occurrences: readonly Occurrence[];
  /** Payments whose payers' fault it was: gas was spent for nothing (safety 19). */
  readonly strikes: readonly Payment[];
}

/**
 * Payments that the mined transaction did not move: the (payer, nonce) log is looked for first, since `ItemFailed` alone
 * decides nothing (safety 3); then the failure of a whole batch sends them out again, or a diagnosis fails them.
 */
async function judgeMissing(
  deps: SettlementDeps,
  network: Network,
  rpc: Rpc,
  batch: Batch,
  receipt: Receipt,
  payments: readonly Payment[],
): Promise<Missed> {
  const occurrences: Occurrence[] = [];
  const unexplained: Payment[] = [];
  for (const payment of payments) {
    const judged = await judgeByLog(deps, network, rpc, payment);
    if (judged === 'none') unexplained.push(payment);
    else if (judged !== 'wait') occurrences.push(countForeign(deps, judged.occurrence));
  }
  if (unexplained.length === 0) return { occurrences, strikes: [] };
  const own = await isSettleAttempt(deps, batch, receipt);
  if (!own || (receipt.status === 'reverted' && !(await isLone(deps, batch)))) {
    return { occurrences: [...occurrences, ...unexplained.map((payment) => unsent(payment, batch.batchId))], strikes: [] };
  }
  const diagnosed = await diagnose(deps, network, rpc, batch, unexplained);
  return { occurrences: [...occurrences, ...diagnosed.occurrences], strikes: diagnosed.strikes };
}

/** Counts a payment that someone else's transaction proved. */
function countForeign(deps: SettlementDeps, occurrence: Occurrence): Occurrence {
  if (occurrence.event.type === 'evidence') deps.metrics?.count('svc.settle.front_run');
  return occurrence;
}

/** True when the transaction was one payment straight to the token: its revert is that payment's own failure. */
async function isLone(deps: SettlementDeps, batch: Batch): Promise<boolean> {
  const [only, ...others] = await listBatchPayments(deps.database, batch.batchId);
  return only?.legWords === null && others.length === 0;
}

/** False when the mined attempt was the self-transfer that voided the batch. */
async function isSettleAttempt(deps: SettlementDeps, batch: Batch, receipt: Receipt): Promise<boolean> {
  return (await listAttempts(deps.database, batch.batchId)).some((a) => a.txHash === receipt.hash && a.kind === 'settle');
}

function unsent(payment: Payment, batchId: string): Occurrence {
  return { tenantId: payment.tenantId, paymentId: payment.paymentId, event: { type: 'unsent', batchId } };
}

/** Why items of a mined batch did not move: asked of the chain as it is now, item by item and recipient by recipient. */
async function diagnose(
  deps: SettlementDeps,
  network: Network,
  rpc: Rpc,
  batch: Batch,
  payments: readonly Payment[],
): Promise<Missed> {
  const splits = payments.filter((payment) => payment.legWords !== null);
  const [checks, groups] = await Promise.all([
    precheck(rpc, network, payments.map(batchItem)),
    simulatePayees(rpc, network, splits),
  ]);
  const unpayable = groups.filter((group) => group.kind === 'payee_reverts');
  for (const group of unpayable) await markPayee(deps, network.id, group.payTo, group.revert ?? 'transfer reverts', payments);
  const occurrences: Occurrence[] = [];
  const strikes: Payment[] = [];
  for (const [index, payment] of payments.entries()) {
    const outcome = checks[index]?.outcome;
    if (!outcome || outcome.kind === 'nonce_used') continue;
    const refused = outcome.kind === 'refused';
    const blocked =
      unpayable.some((group) => group.payTo === payment.payTo) ||
      (refused && outcome.reason === 'settlement_failed' && (await isPayeeBlocked(deps, network, rpc, payment)));
    if (blocked) {
      occurrences.push(itemFailed(payment, batch, 'settlement_failed', 'payee_blocked', SENTENCE_BLOCKED));
      continue;
    }
    // A wallet of code that agrees when asked and not when it counts would burn our gas for ever.
    const fickle = !refused && payment.lane === 'contract';
    if (refused || fickle) strikes.push(payment);
    if (refused) occurrences.push(itemFailed(payment, batch, outcome.reason, outcome.raw, SENTENCES[outcome.reason]));
    else if (fickle && payment.facts.attempts > 0) {
      occurrences.push(itemFailed(payment, batch, 'settlement_failed', 'contract_payer_failed', SENTENCES.authorization_invalid));
    } else occurrences.push(unsent(payment, batch.batchId));
  }
  return { occurrences, strikes };
}

function itemFailed(payment: Payment, batch: Batch, reason: FailureReason, rawReason: string, sentence: string): Occurrence {
  const event = { type: 'itemFailed', batchId: batch.batchId, reason } as const;
  return { tenantId: payment.tenantId, paymentId: payment.paymentId, event, rawReason, sentence };
}
