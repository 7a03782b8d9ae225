import type { TransferStatus } from '../../../chain/facilitator.ts';
import { isTxHash } from '../../../chain/facilitator.ts';
import { reopenSubmission } from '../../../db/settlement/facilitator.ts';
import type { Occurrence } from '../../../db/settlement/outcome.ts';
import { applyEvents } from '../../../db/settlement/outcome.ts';
import type { Payment } from '../../../db/settlement/payment.ts';
import { touchChecked } from '../../../db/settlement/sweep.ts';
import type { SettlementDeps } from '../deps.ts';
import { evidenceEvent } from '../evidence.ts';
import { batchItem } from '../items.ts';

/** Asked again this long after it was settled: a facilitator that takes a transfer back does so at once. */
const FINAL_AFTER_MS = 60_000;
/** Status calls of one look, all at once: a facilitator that answers none of them must not hold up the sweeper's round. */
const AT_ONCE = 32;

/** True for a settled payment that an id of a facilitator proves, not a transaction. */
export function isByTransfer(payment: Payment): boolean {
  return payment.facts.evidence !== null && !isTxHash(payment.facts.evidence.txHash);
}

/** The event that an id of the facilitator settled: it stands where a hash stands; its claim is unique like any other (safety 1). */
export function transferEvent(payment: Payment, id: string): Occurrence {
  return evidenceEvent(payment, { txHash: id, logIndex: 0, blockNumber: 0n }, new Date());
}

/**
 * Asks again about settled payments that an id of the facilitator proves, once a minute has gone by: still settled, they are final;
 * failed, they go back and are asked for again. Any other answer changes nothing. Those asked about longest ago come first.
 */
export async function watchTransfers(deps: SettlementDeps, payments: readonly Payment[]): Promise<void> {
  const due = payments.filter(({ decidedAt, acceptedAt }) => deps.now() - (decidedAt ?? acceptedAt).getTime() >= FINAL_AFTER_MS);
  const asked = due.slice(0, AT_ONCE);
  await Promise.all(asked.map((payment) => recheck(deps, payment)));
  const waiting = new Set(due.slice(AT_ONCE));
  await touchChecked(
    deps.database,
    payments.filter((payment) => !waiting.has(payment)),
  );
}

async function recheck(deps: SettlementDeps, payment: Payment): Promise<void> {
  const { tenantId, paymentId, network } = payment;
  const transfer = payment.facts.evidence;
  const facilitator = deps.facilitatorOf(network);
  if (!transfer || !facilitator) return;
  const status = await facilitator.status(transfer.txHash, batchItem(payment));
  if (status === 'open') return;
  const type = status === 'settled' ? 'safe' : 'reorged';
  if (status === 'failed') await reopenSubmission(deps.database, payment);
  await applyEvents(deps.database, [{ tenantId, paymentId, event: { type, transfer } }]);
}

/** What became of payments under review that an id of the facilitator may settle: no batch asks about them any more. */
export async function askAboutReviewed(
  deps: SettlementDeps,
  payments: readonly Payment[],
  idOf: ReadonlyMap<string, string>,
): Promise<ReadonlyMap<string, TransferStatus>> {
  const reviewed = payments.filter(({ paymentId, facts }) => facts.state === 'review' && idOf.has(paymentId));
  const first = Math.floor(Math.random() * reviewed.length); // of more than can be asked, each has its turn
  const asked = [...reviewed.slice(first), ...reviewed.slice(0, first)].slice(0, AT_ONCE);
  const statuses = asked.map(async (payment): Promise<[string, TransferStatus]> => {
    const facilitator = deps.facilitatorOf(payment.network);
    const status = await facilitator?.status(idOf.get(payment.paymentId) ?? '', batchItem(payment));
    return [payment.paymentId, status ?? 'open'];
  });
  return new Map(await Promise.all(statuses));
}
