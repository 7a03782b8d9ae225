import { setTimeout as sleep } from 'node:timers/promises';
import { isTxHash } from '../../../chain/facilitator.ts';
import type { Network } from '../../../chain/network.ts';
import { precheck } from '../../../chain/precheck.ts';
import type { Rpc } from '../../../chain/rpc.ts';
import { listUsedNonces } from '../../../chain/states.ts';
import type { Submission } from '../../../db/settlement/facilitator.ts';
import { listOpenFacilitatorBatches, listOpenSubmissions } from '../../../db/settlement/facilitator.ts';
import type { Occurrence } from '../../../db/settlement/outcome.ts';
import { applyEvents } from '../../../db/settlement/outcome.ts';
import type { PaymentRef } from '../../../db/settlement/payment.ts';
import { findBatch, setBatchState } from '../../../db/settlement/relayer.ts';
import type { FailureReason } from '../../../domain/errors.ts';
import { reasonOf } from '../../../domain/failure.ts';
import type { ConfirmResult } from '../confirm.ts';
import type { SettlementDeps } from '../deps.ts';
import { chainOf } from '../deps.ts';
import { judgeByLog } from '../evidence.ts';
import { SENTENCES } from '../examine.ts';
import { batchItem } from '../items.ts';
import { askDue, REFUSAL_LIMIT } from './ask.ts';
import { transferEvent } from './transfers.ts';

const LOOK_MS = 40;
const SLOWEST_LOOK_MS = 400;
const SENTENCE_REFUSED = 'the facilitator of this network refuses the payment';

/**
 * Stays with a facilitator's batch for `timeoutMs` at most: asks what is due and decides each payment by what the chain shows of its
 * (payer, nonce), whatever the facilitator says (safety 1, 3). A time-out, a 5xx, an unproven success decide nothing. Calling it
 * again, or from several processes, is harmless.
 */
export async function confirmWithFacilitator(
  deps: SettlementDeps,
  batchId: string,
  options: { readonly timeoutMs: number; readonly signal?: AbortSignal },
): Promise<ConfirmResult> {
  const batch = await findBatch(deps.database, batchId);
  const facilitator = batch && deps.facilitatorOf(batch.network);
  if (!batch || !facilitator) return { undecided: 0, rest: [] };
  const { network, rpc } = chainOf(deps, batch.network);
  const deadline = performance.now() + options.timeoutMs;
  const rest: PaymentRef[] = [];
  for (let pauseMs = LOOK_MS; ; pauseMs = Math.min(2 * pauseMs, SLOWEST_LOOK_MS)) {
    const open = await listOpenSubmissions(deps.database, batchId);
    rest.push(...(await decide(deps, network, rpc, batchId, open)));
    const left = await listOpenSubmissions(deps.database, batchId);
    if (left.length === 0) {
      await setBatchState(deps.database, batchId, 'safe');
      return { undecided: 0, rest };
    }
    const asked = await askDue(deps, facilitator, { network, rpc, batchId }, left);
    const leftMs = deadline - performance.now();
    if (leftMs <= 0 || options.signal?.aborted) return { undecided: left.length, rest };
    if (asked.length > 0) pauseMs = LOOK_MS;
    await Promise.race([sleep(Math.min(pauseMs, leftMs)), ...asked.map((one) => one.then(() => sleep(1)))]);
  }
}

/** Looks after the batches of a network that no live workflow may hold: once through, asking what is due (safety 7). */
export async function sweepFacilitator(deps: SettlementDeps, networkId: string): Promise<readonly PaymentRef[]> {
  if (!deps.facilitatorOf(networkId)) return [];
  const rest: PaymentRef[] = [];
  for (const batchId of await listOpenFacilitatorBatches(deps.database, networkId, 200)) {
    rest.push(...(await confirmWithFacilitator(deps, batchId, { timeoutMs: 0 })).rest);
  }
  return rest;
}

/** Decides what the chain, or the status of an id, decides; returns the payments that need a batch now. */
async function decide(
  deps: SettlementDeps,
  network: Network,
  rpc: Rpc,
  batchId: string,
  open: readonly Submission[],
): Promise<readonly PaymentRef[]> {
  if (open.length === 0) return [];
  const used = await listUsedNonces(
    rpc,
    network,
    open.map(({ payment }) => payment),
  );
  const occurrences: Occurrence[] = [];
  const refused: Submission[] = [];
  for (const [index, submission] of open.entries()) {
    const judged = used[index] ? await judgeByLog(deps, network, rpc, submission.payment) : 'none';
    // What moves under an id of its own never uses the nonce: that the payer cancelled it says nothing of the id.
    const decides = typeof judged !== 'string' && (judged.occurrence.event.type === 'evidence' || !waitsForOwnId(submission));
    if (decides) occurrences.push(judged.occurrence);
    else if (isConfirmedTransfer(submission)) occurrences.push(transferEvent(submission.payment, submission.reference ?? ''));
    else if (!used[index] && submission.said === 'refused') refused.push(submission);
  }
  occurrences.push(...(await diagnose(rpc, network, batchId, refused)));
  const applied = await applyEvents(deps.database, occurrences);
  if (occurrences.length > 0) deps.crashAt('after_record');
  return applied.released.map(({ tenantId, paymentId }) => ({ tenantId, paymentId }));
}

/** True when an id of its own was named for the payment, and is not taken back. */
function waitsForOwnId({ said, reference }: Submission): boolean {
  return said !== 'refused' && reference !== null && !isTxHash(reference);
}

/**
 * True when the facilitator's status call says that an id of its own is settled. Only for one wallet: at a split no such money
 * arrives, and its authors could not be paid (safety 4).
 */
function isConfirmedTransfer(submission: Submission): boolean {
  return submission.said === 'settled' && waitsForOwnId(submission) && submission.payment.legWords === null;
}

/**
 * True when its own word may fail the payment: a transfer under an id of its own failed, or it refused several times and never did
 * anything else. Once an answer was lost or said something else, the transaction may be on its way: no number of refusals after that
 * proves that nothing was sent (safety 3), and only the end of the authorization, or the chain's own no, decides.
 */
function isBelieved({ refusals, asks, reference }: Submission): boolean {
  return refusals >= REFUSAL_LIMIT && (refusals === asks || (reference !== null && !isTxHash(reference)));
}

/**
 * Refused payments whose nonce is unused: failed with the reason that the chain gives, else, when the chain would still take them,
 * asked again, and failed with the facilitator's own reason after several refusals in a row. Failed is watched (safety 3).
 */
async function diagnose(
  rpc: Rpc,
  network: Network,
  batchId: string,
  refused: readonly Submission[],
): Promise<readonly Occurrence[]> {
  const checks = await precheck(
    rpc,
    network,
    refused.map(({ payment }) => batchItem(payment)),
  );
  return refused.flatMap((submission, index): Occurrence[] => {
    const { payment, detail } = submission;
    const outcome = checks[index]?.outcome;
    const failed = (reason: FailureReason, rawReason: string, sentence: string): Occurrence[] => {
      const event = { type: 'itemFailed', batchId, reason } as const;
      return [{ tenantId: payment.tenantId, paymentId: payment.paymentId, event, rawReason, sentence }];
    };
    if (outcome?.kind === 'refused') return failed(outcome.reason, outcome.raw, SENTENCES[outcome.reason]);
    if (outcome?.kind !== 'passed' || !isBelieved(submission)) return [];
    const raw = detail ?? 'refused';
    return failed(reasonOf(raw), raw, SENTENCE_REFUSED);
  });
}
