import type { Receipt } from '../../../../platform/chain/evidence/receipts.ts';
import { waitForReceipt } from '../../../../platform/chain/evidence/receipts.ts';
import { readReceipt } from '../../../../platform/chain/evidence/sight.ts';
import { fateOf } from '../../rules/carrier.ts';
import type { RelayerTransaction } from '../../store/attempts.ts';
import { listAttempts } from '../../store/attempts.ts';
import type { Payment } from '../../store/payment.ts';
import { listBatchPayments } from '../../store/payment.ts';
import type { Batch } from '../../store/relayer.ts';
import { findBatch } from '../../store/relayer.ts';
import type { Chain, SettlementDeps } from '../deps.ts';
import { chainOf } from '../deps.ts';
import { raiseFees, sendBatch, voidStored } from '../relayer/broadcast.ts';
import { closeBatch } from '../relayer/gasUsage.ts';
import { runRound, storeEvidence } from './round.ts';

/** What confirming a batch came to. */
export interface ConfirmResult {
  /** Payments of the batch that are still undecided. */
  readonly undecided: number;
  /** Its receipt was there; never where a facilitator carries it. */
  readonly isMined: boolean;
}

/** A batch, its signed bytes, and its payments as they stood when it was claimed. */
export interface Carried {
  readonly batch: Batch;
  readonly attempts: readonly RelayerTransaction[];
  readonly payments: readonly Payment[];
}

/** How to confirm: for how long at most, until when, and what the caller knows of the batch, so that nothing of it is read again. */
export interface ConfirmOptions {
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
  readonly carried?: Carried;
}

/**
 * Waits for a batch's transaction, whichever of its attempts is mined, and decides each payment from what the chain shows
 * as soon as its own confirmations are there (safety 1, 3, 20). No receipt within `timeoutMs` decides nothing (never a
 * failure): the bytes go out again and, when they stay unmined, with higher fees, or give their nonce away once every payment in them has
 * failed: mined late they would cost all of their gas for nothing. Calling it again is harmless, and so are payments that
 * were `carried` here and decided elsewhere meanwhile: the machine drops what does not apply to the rows.
 */
export async function confirmBatch(
  deps: SettlementDeps,
  batchId: string,
  { carried, ...options }: ConfirmOptions,
): Promise<ConfirmResult> {
  const batch = carried?.batch ?? (await findBatch(deps.database, batchId));
  if (!batch) return { undecided: 0, isMined: false };
  const call = chainOf(deps, batch.network);
  const attempts = carried?.attempts ?? (await listAttempts(deps.database, batchId));
  const hashes = attempts.map((attempt) => attempt.txHash);
  const receipt = await waitForReceipt(call.rpc, hashes, options);
  if (receipt) return decideBatch(call, { batch, attempts, ...(carried && { payments: carried.payments }) }, receipt);
  const payments = await listBatchPayments(deps.database, batchId);
  if (isWorthless(payments)) await voidStored(deps, call.network, call.rpc, batch);
  await sendBatch(deps, call.network, call.rpc, batchId);
  await raiseFees(deps, call.network, call.rpc, batch);
  return { undecided: payments.filter(isOpen).length, isMined: false };
}

/** Decides the payments of a batch whose nonce is mined, by the receipt of the attempt that was. Calling it again is harmless. */
export async function decideBatch(
  call: Chain<SettlementDeps>,
  { batch, attempts, payments: known }: Omit<Carried, 'payments'> & Partial<Carried>,
  receipt: Receipt,
): Promise<ConfirmResult> {
  const { deps } = call;
  const payments = known ?? (await listBatchPayments(deps.database, batch.batchId));
  const open = payments.filter(isOpen);
  deps.crashAt('after_receipt');
  if (open.length === 0 && batch.state === 'open') {
    // Nothing to judge: a flush, or decided before. What it paid out is evidence all the same.
    await storeEvidence(call, await readReceipt(call.rpc, call.network, receipt));
  }
  const mined = attempts.find(({ txHash }) => txHash === receipt.hash);
  const fate = fateOf(mined?.kind ?? 'settle', receipt.status);
  const { batchId } = batch;
  const lookups = open.map((payment) => ({
    payment,
    // Not how many are still in it: those that went out again have left it.
    carrier: { batchId, size: payment.batchSize ?? payments.length, fate, blockNumber: receipt.blockNumber },
    hashes: [receipt.hash],
  }));
  const round = await runRound(call, lookups, { atSafe: false, receipts: [receipt] });
  await closeBatch(deps, batch, { receipt, mined, paymentCount: payments.length });
  deps.crashAt('after_record');
  const decided = new Set(round.changed.map(({ paymentId }) => paymentId));
  return { undecided: open.filter(({ paymentId }) => !decided.has(paymentId)).length, isMined: true };
}

/** True when nothing that a batch carries can be settled any more. One that carries nothing is a flush, or was taken apart before. */
function isWorthless(payments: readonly Payment[]): boolean {
  return payments.length > 0 && payments.every(({ facts }) => facts.state === 'failed');
}

function isOpen({ facts }: Payment): boolean {
  return facts.state === 'broadcast';
}
