import { isTxHash } from '../../../chain/facilitator.ts';
import { reopenSubmission } from '../../../db/settlement/facilitator.ts';
import { applyEvents } from '../../../db/settlement/outcome.ts';
import type { Payment } from '../../../db/settlement/payment.ts';
import { touchChecked } from '../../../db/settlement/sweep.ts';
import type { SettlementDeps } from '../deps.ts';
import { batchItem } from '../items.ts';

/** Asked again this long after it was settled: a facilitator that takes a transfer back does so at once. */
const FINAL_AFTER_MS = 60_000;

/** True for a settled payment that an id of a facilitator proves, not a transaction. */
export function isByTransfer(payment: Payment): boolean {
  return payment.facts.evidence !== null && !isTxHash(payment.facts.evidence.txHash);
}

/**
 * Asks again about settled payments that an id of the facilitator proves, once a minute has gone by: still settled, they are final;
 * failed, they go back and are asked for again. Any other answer changes nothing.
 */
export async function watchTransfers(deps: SettlementDeps, payments: readonly Payment[]): Promise<void> {
  for (const payment of payments) {
    const transfer = payment.facts.evidence;
    const facilitator = deps.facilitatorOf(payment.network);
    const isDue = deps.now() - (payment.decidedAt ?? payment.acceptedAt).getTime() >= FINAL_AFTER_MS;
    if (!transfer || !facilitator || !isDue) continue;
    const status = await facilitator.status(transfer.txHash, batchItem(payment));
    if (status === 'open') continue;
    const { tenantId, paymentId } = payment;
    const type = status === 'settled' ? 'safe' : 'reorged';
    if (status === 'failed') await reopenSubmission(deps.database, payment);
    await applyEvents(deps.database, [{ tenantId, paymentId, event: { type, transfer } }]);
  }
  await touchChecked(deps.database, payments);
}
