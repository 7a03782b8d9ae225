import { isClaimable } from '../../../../kernel/payment/state.ts';
import { pickBatch } from '../../../rules/pickBatch.ts';
import { listBlockedPayees } from '../../../store/admission.ts';
import { claimSubmissions, FACILITATOR } from '../../../store/facilitator.ts';
import { listPayments } from '../../../store/payment.ts';
import { listWaiting } from '../../../store/queue.ts';
import { touchChecked } from '../../../store/sweep.ts';
import { examine } from '../../batch/examine.ts';
import { applyCounted } from '../../batch/round.ts';
import type { NewBatch, Sent } from '../../batch/send.ts';
import { nothing } from '../../batch/send.ts';
import type { SettlementDeps } from '../../deps.ts';
import { chainOf } from '../../deps.ts';

/** Payments that one batch hands over. */
const MOST = 100;

/**
 * Hands what waits of a network to its facilitator, sites in turns: examines it as for our own relayer, and claims what is still
 * accepted (safety 7). Nothing leaves the process here: `broadcast` stands before the first request does.
 */
export async function claimForFacilitator(deps: SettlementDeps, under: NewBatch): Promise<Sent> {
  const call = chainOf(deps, under.network);
  const { network } = call;
  const waiting = await listWaiting(deps.database, network.id, under.batchId);
  const { picked, left } = pickBatch(waiting, { openRoom, payerRoom: () => MOST, last: null });
  const open = (await listPayments(deps.database, picked)).filter(isClaimable);
  if (open.length === 0) return nothing('idle'); // what another process took meanwhile
  deps.crashAt('after_insert');
  const payTos = open.map(({ payTo }) => payTo);
  const blocked = await listBlockedPayees(deps.database, network.id, payTos);
  const { sendable, undecided, occurrences, transfers } = await examine(call, open, blocked);
  const [{ changed }] = await Promise.all([applyCounted(call, occurrences, transfers), touchChecked(deps.database, undecided)]);
  const payments = await claimSubmissions(deps.database, under, sendable);
  const others = left.length > 0 ? 'now' : undecided.length > 0 ? 'later' : 'none';
  if (payments.length === 0) return changed.length + undecided.length > 0 ? { ...nothing('idle'), others } : nothing('busy');
  deps.crashAt('after_sign');
  const { batchId, network: networkId } = under;
  const row = { kind: FACILITATOR, nonce: 0n, state: 'open', createdAt: new Date(deps.now()) } as const;
  const batch = { batchId, network: networkId, address: FACILITATOR, ...row };
  under.onClaimed?.({ batch, attempts: [], payments });
  return { kind: 'sent', others, noted: Promise.resolve() };
}

/** Room for so many payments, each as heavy as the other. */
function openRoom() {
  let count = 0;
  return {
    costOf: () => (count < MOST ? 1n : null),
    add: () => {
      count += 1;
    },
  };
}
