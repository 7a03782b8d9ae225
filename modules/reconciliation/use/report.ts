import type { Sql } from '../../../db/database.ts';
import { checksumAddress } from '../../../platform/chain/offer.ts';
import type { Address } from '../../kernel/money/legs.ts';
import type { SplitTransfer } from '../../kernel/money/splitPayouts.ts';
import { isPaidOn, payeeOfWord, traceSplit } from '../../kernel/money/splitPayouts.ts';
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
  const { flushed, waiting } = await traceShares(sql, openShares);
  const paidLater = bucketOf(flushed.map(({ legs, netMicro }) => ({ legs, micro: netMicro })));
  const settled = bucketOf([...counts.filter(({ reason }) => reason === null), paidLater]);
  const open = bucketOf(counts.filter(({ reason }) => reason !== null));
  const isOpen = open.legs > paidLater.legs;
  const found = isOpen ? await listOpenLegs(sql, tenantId, window, { settled: flushed, limit: maxExceptions + 1 }) : [];
  const reasonOf = ({ paymentId, toAddress, reason }: OpenLeg) =>
    waiting.has(nameOf({ paymentId, toAddress })) ? 'payee_blocked' : reason;
  return {
    recorded,
    settled,
    outstanding: { legs: open.legs - paidLater.legs, micro: open.micro - paidLater.micro },
    exceptions: found
      .slice(0, maxExceptions)
      .map((leg) => ({ ...leg, reason: reasonOf(leg), toAddress: checksumAddress(leg.toAddress as Address) })),
    truncatedExceptions: found.length > maxExceptions,
  };
}

/**
 * Payments and payees that another transaction than the payer's own paid out, a flush, to the micro; and the names of those whose part
 * waits since the token refuses to pay them. A part that has waited is paid once its place has paid.
 */
async function traceShares(
  sql: Sql,
  openShares: readonly RecordedShare[],
): Promise<{ readonly flushed: readonly RecordedShare[]; readonly waiting: ReadonlySet<string> }> {
  const flushed: RecordedShare[] = [];
  const waiting = new Set<string>();
  const placeTransfers = new Map<string, readonly SplitTransfer[]>();
  for (const shares of Map.groupBy(openShares, ({ network, payTo }) => `${network} ${payTo}`).values()) {
    const [split] = shares;
    if (split === undefined) continue;
    const { network } = split;
    const paid = traceSplit(split.legWords.map(payeeOfWord), await listSplitTransfers(sql, split));
    for (const share of shares) {
      const wallet = share.toAddress as Address;
      const became = paid.get(share.authorization);
      if (became === undefined || became.amounts.get(wallet) !== share.netMicro) continue;
      const payTo = became.waitsAt.get(wallet);
      if (payTo !== undefined) {
        const name = `${network} ${payTo}`;
        const ofPlace = placeTransfers.get(name) ?? (await listSplitTransfers(sql, { network, payTo }));
        placeTransfers.set(name, ofPlace);
        if (!isPaidOn(ofPlace, became.txHash)) {
          waiting.add(nameOf(share));
          continue;
        }
      }
      flushed.push(share);
    }
  }
  return { flushed, waiting };
}

function nameOf({ paymentId, toAddress }: Pick<RecordedShare, 'paymentId' | 'toAddress'>): string {
  return `${paymentId} ${toAddress}`;
}

function bucketOf(parts: readonly Bucket[]): Bucket {
  return {
    legs: parts.reduce((sum, { legs }) => sum + legs, 0),
    micro: parts.reduce((sum, { micro }) => sum + micro, 0n),
  };
}
