import { findPagePayment, listNewFlushes, markCorrected, recordActualLegs } from '../../db/corrections.ts';
import { listSplitTransfers } from '../../db/reconciliation.ts';
import { payeeOfWord, traceSplit } from '../../domain/reconcile.ts';
import type { ReconcileDeps } from './deps.ts';

/** A payment in these states may still be recorded, or undone: its flush is looked at again. */
const UNDECIDED = ['accepted', 'broadcast', 'settled'];

/**
 * Brings the ledger to what flushes paid: a flush shares everything that lay at a split by its weights, which differs by some micro
 * from the sum of the payments' own legs (safety 4). Only flushes at or below the safe block, and only final payments of pages.
 * Returns how many payments were corrected; a second call corrects none.
 */
export async function correctFlushed(deps: ReconcileDeps, networkId: string): Promise<number> {
  const { flushes, safeBlock } = await listNewFlushes(deps.database, networkId);
  let doneUpTo = safeBlock;
  let corrected = 0;
  for (const flush of flushes) {
    const paid = traceSplit(flush.legWords.map(payeeOfWord), await listSplitTransfers(deps.database, flush));
    for (const [authorization, { txHash, byFlush, amounts }] of paid) {
      if (!byFlush || txHash !== flush.txHash) continue;
      const payment = await findPagePayment(deps.database, networkId, authorization);
      if (payment && UNDECIDED.includes(payment.state) && flush.blockNumber <= doneUpTo) doneUpTo = flush.blockNumber - 1n;
      if (payment?.state === 'final' && (await recordActualLegs(deps.database, payment, amounts))) corrected += 1;
    }
  }
  if (flushes.length > 0 || doneUpTo > 0n) await markCorrected(deps.database, networkId, doneUpTo);
  if (corrected > 0) deps.log.info({ networkId, corrected }, 'legs were corrected to what a flush paid');
  return corrected;
}
