import { planBatch } from '../../chain/calldata.ts';
import type { Network } from '../../chain/network.ts';
import { simulateGroups } from '../../chain/payees.ts';
import { precheck } from '../../chain/precheck.ts';
import type { Receipt } from '../../chain/receipts.ts';
import { blockNumbers, findAuthorization, waitForReceipt } from '../../chain/receipts.ts';
import type { Rpc } from '../../chain/rpc.ts';
import { addGasUsage, addStrike } from '../../db/settlement/admission.ts';
import type { Applied, Occurrence } from '../../db/settlement/outcome.ts';
import { applyEvents } from '../../db/settlement/outcome.ts';
import type { Payment, PaymentRef } from '../../db/settlement/payment.ts';
import { listBatchPayments, listPayments } from '../../db/settlement/payment.ts';
import type { Batch } from '../../db/settlement/relayer.ts';
import { findBatch, listAttempts, markMined } from '../../db/settlement/relayer.ts';
import type { SettlementDeps } from './deps.ts';
import { chainOf } from './deps.ts';
import { evidenceEvent, evidenceIn, isConfirmed, judgeUsedNonce, spentOtherwise, storeReceipt } from './evidence.ts';
import { markPayee, SENTENCES } from './examine.ts';
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
  const applied = await decideFromReceipt(deps, network, rpc, batch, receipt, open);
  deps.crashAt('after_record');
  const left = (await listBatchPayments(deps.database, batchId)).filter((payment) => payment.facts.state === 'broadcast');
  return { undecided: left.length, rest: [...applied.released, ...(await reaccepted(deps, open))] };
}

/** Payments that went back to `accepted`: they go out again under a new nonce. */
async function reaccepted(deps: SettlementDeps, payments: readonly Payment[]): Promise<PaymentRef[]> {
  const rows = await listPayments(deps.database, payments);
  return rows.filter((row) => row.facts.state === 'accepted').map(({ tenantId, paymentId }) => ({ tenantId, paymentId }));
}

async function decideFromReceipt(
  deps: SettlementDeps,
  network: Network,
  rpc: Rpc,
  batch: Batch,
  receipt: Receipt,
  payments: readonly Payment[],
): Promise<Applied> {
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
  occurrences.push(...(await judgeMissing(deps, network, rpc, batch, receipt, missing)));
  const applied = await applyEvents(deps.database, occurrences);
  for (const poisoned of applied.poisoned) {
    deps.log.error({ paymentId: poisoned.paymentId, batchId: batch.batchId }, 'a paid payment could not be recorded');
  }
  if (await markMined(deps.database, batch.batchId)) await noteGas(deps, receipt, payments);
  return applied;
}

/** Spreads the transaction's gas over the tenants of its payments (safety 19). */
async function noteGas(deps: SettlementDeps, receipt: Receipt, payments: readonly Payment[]): Promise<void> {
  if (payments.length === 0) return;
  const each = (receipt.gasUsed * receipt.effectiveGasPriceWei) / BigInt(payments.length);
  const usage = new Map<string, bigint>();
  for (const { tenantId } of payments) usage.set(tenantId, (usage.get(tenantId) ?? 0n) + each);
  await addGasUsage(deps.database, usage);
}

/**
 * Payments that the mined transaction did not move: the (payer, nonce) log is looked for first, since `ItemFailed` alone
 * decides nothing (safety 3); then the whole transaction's failure sends them out again, or a diagnosis fails them.
 */
async function judgeMissing(
  deps: SettlementDeps,
  network: Network,
  rpc: Rpc,
  batch: Batch,
  receipt: Receipt,
  payments: readonly Payment[],
): Promise<Occurrence[]> {
  const result: Occurrence[] = [];
  const unexplained: Payment[] = [];
  for (const payment of payments) {
    const finding = await findAuthorization(
      rpc,
      network,
      payment.payer,
      payment.nonce,
      (payment.unusedAtBlock ?? receipt.blockNumber) + 1n,
    );
    if (finding.kind === 'none') unexplained.push(payment);
    else if (finding.kind === 'used') {
      const occurrence = await judgeUsedNonce(deps, network, rpc, payment);
      if (occurrence) result.push(occurrence);
    } else result.push(spentOtherwise(payment, `authorization_${finding.kind}`));
  }
  if (unexplained.length === 0) return result;
  const own = await isSettleAttempt(deps, batch, receipt);
  if (receipt.status === 'reverted' || !own) return [...result, ...unexplained.map((p) => unsent(p, batch.batchId))];
  return [...result, ...(await diagnose(deps, network, rpc, batch, unexplained))];
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
): Promise<Occurrence[]> {
  const [checks, groups] = await Promise.all([
    precheck(rpc, network, payments.map(batchItem)),
    simulateGroups(rpc, network, planBatch(payments.map(batchItem), network).groups),
  ]);
  const unpayable = groups.filter((group) => group.kind === 'payee_reverts');
  for (const group of unpayable) await markPayee(deps, network.id, group.payTo, group.revert ?? 'transfer reverts', payments);
  const result: Occurrence[] = [];
  for (const [index, payment] of payments.entries()) {
    const outcome = checks[index]?.outcome;
    const base = { tenantId: payment.tenantId, paymentId: payment.paymentId };
    if (unpayable.some((group) => group.payTo === payment.payTo)) {
      const event = { type: 'itemFailed', batchId: batch.batchId, reason: 'settlement_failed' } as const;
      result.push({
        ...base,
        event,
        rawReason: 'payee_blocked',
        sentence: 'an author of this page cannot receive payments at present',
      });
    } else if (outcome?.kind === 'refused') {
      await addStrike(deps.database, network.id, payment.payer);
      const event = { type: 'itemFailed', batchId: batch.batchId, reason: outcome.reason } as const;
      result.push({ ...base, event, rawReason: outcome.raw, sentence: SENTENCES[outcome.reason] });
    } else if (outcome?.kind === 'passed') {
      result.push(unsent(payment, batch.batchId));
    }
  }
  return result;
}
