import type { Receipt } from '../../chain/receipts.ts';
import { waitForReceipt } from '../../chain/receipts.ts';
import { readReceipt } from '../../chain/sight.ts';
import type { Payment, PaymentRef } from '../../db/settlement/payment.ts';
import { listBatchPayments } from '../../db/settlement/payment.ts';
import type { Batch, RelayerTransaction } from '../../db/settlement/relayer.ts';
import { findBatch, listAttempts, markMined } from '../../db/settlement/relayer.ts';
import { fateOf } from '../../domain/payment/carrier.ts';
import { noteGas } from '../relayer/gasUsage.ts';
import { raiseFees, sendBatch } from '../relayer/lane.ts';
import type { Chain, SettlementDeps } from './deps.ts';
import { chainOf } from './deps.ts';
import { runRound, storeEvidence } from './round.ts';

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
  const call = chainOf(deps, batch.network);
  const attempts = await listAttempts(deps.database, batchId);
  const hashes = attempts.map((attempt) => attempt.txHash);
  const receipt = await waitForReceipt(call.rpc, hashes, options);
  if (receipt) return decideBatch(call, batch, attempts, receipt);
  await sendBatch(deps, call.network, call.rpc, batchId);
  await raiseFees(deps, call.network, call.rpc, batch);
  const open = (await listBatchPayments(deps.database, batchId)).filter(isOpen);
  return { undecided: open.length, rest: [] };
}

/** Decides the payments of a batch whose nonce is mined, by the receipt of the attempt that was. Calling it again is harmless. */
export async function decideBatch(
  call: Chain<SettlementDeps>,
  batch: Batch,
  attempts: readonly RelayerTransaction[],
  receipt: Receipt,
): Promise<ConfirmResult> {
  const { deps } = call;
  const payments = await listBatchPayments(deps.database, batch.batchId);
  const open = payments.filter(isOpen);
  deps.crashAt('after_receipt');
  if (open.length === 0 && batch.state === 'open') {
    // Nothing to judge: a flush, or decided before. What it paid out is evidence all the same.
    await storeEvidence(call, [await readReceipt(call.rpc, call.network, receipt)]);
  }
  const kind = attempts.find(({ txHash }) => txHash === receipt.hash)?.kind ?? 'settle';
  const fate = fateOf(kind, receipt.status);
  const { batchId } = batch;
  const lookups = open.map((payment) => ({
    payment,
    // Not how many are still in it: those that went out again have left it.
    carrier: { batchId, size: payment.batchSize ?? payments.length, fate },
    hashes: [receipt.hash],
  }));
  const round = await runRound(call, lookups, { atSafe: false, receipts: [receipt] });
  await noteGas(deps, batch, { receipt, kind, paymentCount: payments.length });
  await markMined(deps.database, batch.batchId);
  deps.crashAt('after_record');
  const decided = new Set(round.changed.map(({ paymentId }) => paymentId));
  const undecided = open.filter(({ paymentId }) => !decided.has(paymentId)).length;
  return { undecided, rest: [...round.released, ...round.again] };
}

function isOpen({ facts }: Payment): boolean {
  return facts.state === 'broadcast';
}
