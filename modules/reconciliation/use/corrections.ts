import { payeeOfWord, traceSplit } from '../../kernel/money/splitPayouts.ts';
import { findPagePayment, listNewFlushes, markCorrected, recordActualLegs } from '../store/corrections.ts';
import { listSplitTransfers } from '../store/legReport.ts';
import type { ReconcileDeps } from './deps.ts';

/**
 * Brings the ledger to what flushes paid: a flush shares everything that lay at a split by its weights, which differs by some micro
 * from the sum of the payments' own legs (safety 4). Only flushes at or below the safe block, and only final payments of pages; a
 * flush that paid one which may still be recorded, or undone, is looked at again. A split is traced once a round, however many
 * flushes somebody pays for. Returns how many payments were corrected; a second call corrects none.
 */
export async function correctFlushed(deps: ReconcileDeps, networkId: string): Promise<number> {
  const { flushes, upTo } = await listNewFlushes(deps.database, networkId);
  let doneUpTo = upTo;
  let corrected = 0;
  for (const ofSplit of Map.groupBy(flushes, ({ payTo }) => payTo).values()) {
    const [split] = ofSplit;
    if (split === undefined) continue;
    const blockOf = new Map(ofSplit.map(({ txHash, blockNumber }) => [txHash, blockNumber]));
    const paid = traceSplit(split.legWords.map(payeeOfWord), await listSplitTransfers(deps.database, split));
    for (const [authorization, { txHash, byFlush, amounts }] of paid) {
      const block = blockOf.get(txHash);
      if (!byFlush || block === undefined) continue;
      const payment = await findPagePayment(deps.database, networkId, authorization);
      if (payment?.watched && block <= doneUpTo) doneUpTo = block - 1n;
      if (payment?.state === 'final' && (await recordActualLegs(deps.database, payment, amounts))) corrected += 1;
    }
  }
  if (flushes.length > 0 || doneUpTo > 0n) await markCorrected(deps.database, networkId, doneUpTo);
  if (corrected > 0) deps.log.info({ networkId, corrected }, 'legs were corrected to what a flush paid');
  return corrected;
}
