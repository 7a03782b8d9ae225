import type { Sql } from '../../../db/database.ts';
import { checksumAddress } from '../../../platform/chain/offer.ts';
import type { Address } from '../../kernel/money/legs.ts';
import { payeeOfWord, traceSplit } from '../../kernel/money/splitPayouts.ts';
import type { AskedWindow, ReportDeps, ReportFrame, ReportSite } from '../../reports/use/request.ts';
import { readReport } from '../../reports/use/request.ts';
import type { OpenLeg, RecordedShare, ReportWindow } from '../store/legReport.ts';
import { countRecorded, judgeLegs, listOpenLegs, listSplitTransfers } from '../store/legReport.ts';

/** Most exceptions of one report; the buckets count all. */
export const MAX_EXCEPTIONS = 1_000;

/** Legs and their sum, micro-USDC. */
export interface Bucket {
  readonly legs: number;
  readonly micro: bigint;
}

/** A recorded leg that the chain does not show settled. */
export type ReconciliationException = OpenLeg;

/** Recorded, settled by the chain's evidence, and the rest. */
export interface Reconciliation {
  readonly recorded: { readonly events: number; readonly grossMicro: bigint };
  readonly settled: Bucket;
  readonly outstanding: Bucket;
  /** Oldest first; addresses in checksum form. */
  readonly exceptions: readonly ReconciliationException[];
  readonly truncatedExceptions: boolean;
}

/** The report of a window, with its frame. Throws database_unavailable. */
export function readReconciliation(
  deps: ReportDeps,
  site: ReportSite,
  asked: AskedWindow,
): Promise<ReportFrame & Reconciliation> {
  return readReport(deps, site, asked, async (sql, frame) => {
    const { fromMs, toMs } = frame.window;
    const window = { from: new Date(fromMs), to: toMs === null ? null : new Date(toMs) };
    return { ...frame, ...(await reconcileLegs(sql, site.tenantId, window)) };
  });
}

/**
 * Compares a tenant's recorded legs of a window with the transfers the chain shows, to the micro (safety 4, invariant 10): settled
 * + outstanding = recorded. `sql` is one REPEATABLE READ transaction.
 */
export async function reconcileLegs(
  sql: Sql,
  tenantId: string,
  window: ReportWindow,
  maxExceptions = MAX_EXCEPTIONS,
): Promise<Reconciliation> {
  const recorded = await countRecorded(sql, tenantId, window);
  const { counts, openShares } = await judgeLegs(sql, tenantId, window);
  const flushed = await listFlushed(sql, openShares);
  const paidLater = bucketOf(flushed.map(({ legs, netMicro }) => ({ legs, micro: netMicro })));
  const settled = bucketOf([...counts.filter(({ reason }) => reason === null), paidLater]);
  const open = bucketOf(counts.filter(({ reason }) => reason !== null));
  const isOpen = open.legs > paidLater.legs;
  const found = isOpen ? await listOpenLegs(sql, tenantId, window, { settled: flushed, limit: maxExceptions + 1 }) : [];
  return {
    recorded,
    settled,
    outstanding: { legs: open.legs - paidLater.legs, micro: open.micro - paidLater.micro },
    exceptions: found.slice(0, maxExceptions).map((leg) => ({ ...leg, toAddress: checksumAddress(leg.toAddress as Address) })),
    truncatedExceptions: found.length > maxExceptions,
  };
}

/** Payments and payees that another transaction than the payer's own paid out, a flush, to the micro. */
async function listFlushed(sql: Sql, openShares: readonly RecordedShare[]): Promise<RecordedShare[]> {
  const flushed: RecordedShare[] = [];
  for (const shares of Map.groupBy(openShares, ({ network, payTo }) => `${network} ${payTo}`).values()) {
    const [split] = shares;
    if (split === undefined) continue;
    const paid = traceSplit(split.legWords.map(payeeOfWord), await listSplitTransfers(sql, split));
    for (const share of shares) {
      const amount = paid.get(share.authorization)?.amounts.get(share.toAddress as `0x${string}`);
      if (amount === share.netMicro) flushed.push(share);
    }
  }
  return flushed;
}

function bucketOf(parts: readonly Bucket[]): Bucket {
  return {
    legs: parts.reduce((sum, { legs }) => sum + legs, 0),
    micro: parts.reduce((sum, { micro }) => sum + micro, 0n),
  };
}
