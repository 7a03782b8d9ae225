import { isClaimable } from '../../../../kernel/payment/state.ts';
import { listBlockedPayees } from '../../../store/admission.ts';
import { applyEvents } from '../../../store/applyEvents.ts';
import { claimSubmissions } from '../../../store/facilitator.ts';
import { listPayments, refOf } from '../../../store/payment.ts';
import { findBatch } from '../../../store/relayer.ts';
import { touchChecked } from '../../../store/sweep.ts';
import { examine } from '../../batch/examine.ts';
import type { SendResult } from '../../batch/send.ts';
import type { BatchProposal } from '../../batchQueue.ts';
import type { SettlementDeps } from '../../deps.ts';
import { chainOf } from '../../deps.ts';

/**
 * Hands a proposal to the network's facilitator as far as the rows go: examines it as for our own relayer, and claims what is still
 * accepted (safety 7). Nothing leaves the process here: `broadcast` stands before the first request does. Called again for the same
 * batch it does nothing.
 */
export async function claimForFacilitator(
  deps: SettlementDeps,
  proposal: BatchProposal,
  workflowId: string | null,
): Promise<SendResult> {
  if (await findBatch(deps.database, proposal.batchId)) return { kind: 'sent', rest: [] };
  const call = chainOf(deps, proposal.network);
  const { network } = call;
  const rows = await listPayments(deps.database, proposal.payments);
  const open = rows.filter((row) => row.network === network.id && isClaimable(row));
  deps.crashAt('after_insert');
  const payTos = open.map(({ payTo }) => payTo);
  const blocked = await listBlockedPayees(deps.database, network.id, payTos);
  const { sendable, undecided, occurrences, transfers } = await examine(call, open, blocked);
  const [{ released }] = await Promise.all([
    applyEvents(deps.database, occurrences, transfers),
    touchChecked(deps.database, undecided),
  ]);
  const claimed = await claimSubmissions(deps.database, { ...proposal, workflowId }, sendable);
  deps.crashAt('after_sign');
  const rest = released.map(refOf);
  return { kind: claimed.length === 0 ? 'idle' : 'sent', rest };
}
