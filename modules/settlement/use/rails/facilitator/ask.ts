import { raiseAlert } from '../../../../../db/alerts.ts';
import { receiptOf } from '../../../../../platform/chain/evidence/receipts.ts';
import type { Facilitator, FacilitatorAnswer } from '../../../../../platform/chain/facilitator.ts';
import { isTxHash } from '../../../../../platform/chain/facilitator.ts';
import type { Network } from '../../../../../platform/chain/network.ts';
import type { Rpc } from '../../../../../platform/chain/rpc/rpc.ts';
import type { Submission } from '../../../store/facilitator.ts';
import { recordAnswer, takeDueSubmissions } from '../../../store/facilitator.ts';
import { batchItem } from '../../batch/batchItem.ts';
import type { SettlementDeps } from '../../deps.ts';

/** Requests to the facilitator of one look at a batch. */
const AT_ONCE = 32;
/** Longer than a request may take: a crash in between asks again after this. */
const LEASE_MS = 35_000;
/** After it says that it settled, the chain has this long to show it before it is asked again. */
const PROOF_MS = 20_000;
/** A facilitator that refuses a payment which the chain would take is asked this often before it is believed. */
export const REFUSAL_LIMIT = 3;
const PAUSES_MS = [500, 1_000, 2_000, 5_000, 10_000, 30_000] as const;

/**
 * Asks the facilitator to settle every payment of a batch that is due, or what became of an id of its own. Starts the requests and
 * returns; what they say is written when they end, and read by the next look at the batch. A process that dies in between leaves rows
 * that say so.
 */
export async function askDue(
  deps: SettlementDeps,
  facilitator: Facilitator,
  place: { readonly network: Network; readonly rpc: Rpc; readonly batchId: string },
  open: readonly Submission[],
): Promise<readonly Promise<void>[]> {
  const due = await takeDueSubmissions(deps.database, place.batchId, { leaseMs: LEASE_MS, limit: AT_ONCE });
  const wanted = new Set(due.map((ref) => ref.paymentId));
  return open
    .filter(({ payment }) => wanted.has(payment.paymentId))
    .map((submission) =>
      ask(deps, facilitator, place, submission).catch((error: unknown) => {
        const { paymentId } = submission.payment;
        deps.log.warn({ paymentId, error: String(error) }, "a facilitator's answer could not be stored; it is asked again");
      }),
    );
}

async function ask(
  deps: SettlementDeps,
  facilitator: Facilitator,
  { network, rpc, batchId }: { readonly network: Network; readonly rpc: Rpc; readonly batchId: string },
  submission: Submission,
): Promise<void> {
  const { payment, reference } = submission;
  const item = batchItem(payment);
  if (reference !== null && !isTxHash(reference) && submission.said !== 'refused') {
    const status = await facilitator.status(reference, item);
    const detail = `transfer ${status}`;
    const said = status === 'settled' ? 'settled' : status === 'failed' ? 'refused' : 'unknown';
    const refusals = status === 'failed' ? REFUSAL_LIMIT : 0;
    const dueInMs = pauseOf(submission.asks);
    await recordAnswer(deps.database, batchId, payment, { of: 'status', said, reference, detail, refusals, dueInMs });
    return;
  }
  const answer = await settled(rpc, await facilitator.settle(network, item));
  deps.crashAt('after_broadcast');
  const refusals = answer.said === 'refused' ? submission.refusals + 1 : 0;
  const ownId = answer.said === 'settled' && answer.reference !== null && !isTxHash(answer.reference);
  const dueInMs = ownId ? 0 : answer.said === 'settled' ? PROOF_MS : pauseOf(submission.asks);
  // An id of its own is a claim that its status call has yet to confirm.
  const said = ownId ? 'unknown' : answer.said;
  await recordAnswer(deps.database, batchId, payment, { ...answer, of: 'settle', said, refusals, dueInMs });
  await alertOf(deps, network, submission, answer);
}

/** A refusal that names a transaction is one only when that transaction was mined and reverted. */
async function settled(rpc: Rpc, answer: FacilitatorAnswer): Promise<FacilitatorAnswer> {
  if (answer.said !== 'refused' || answer.reference === null) return answer;
  const receipt = isTxHash(answer.reference) ? await receiptOf(rpc, answer.reference as `0x${string}`) : null;
  return receipt?.status === 'reverted' ? answer : { ...answer, said: 'unknown' };
}

function pauseOf(asks: number): number {
  return PAUSES_MS[Math.min(asks, PAUSES_MS.length - 1)] ?? 30_000;
}

/** What an operator must look at: we are locked out, or it said before that it settled and the chain does not show it. */
async function alertOf(
  deps: SettlementDeps,
  network: Network,
  before: Submission,
  { lockedOut, detail }: FacilitatorAnswer,
): Promise<void> {
  if (lockedOut) await raiseAlert(deps.database, 'facilitator_locked_out', `${network.id} ${detail}`);
  if (before.said === 'settled') await raiseAlert(deps.database, 'facilitator_unproven', `payment ${before.payment.paymentId}`);
}
