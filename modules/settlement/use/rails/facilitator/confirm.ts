import { setTimeout as sleep } from 'node:timers/promises';
import { isTxHash } from '../../../../../platform/chain/facilitator.ts';
import type { Hex } from '../../../../kernel/x402/payload.ts';
import type { Submission } from '../../../store/facilitator.ts';
import { listOpenFacilitatorBatches, listOpenSubmissions } from '../../../store/facilitator.ts';
import { findBatch, setBatchState } from '../../../store/relayer.ts';
import type { ConfirmResult } from '../../batch/confirm.ts';
import { ROUND_LIMIT, runRound } from '../../batch/round.ts';
import type { Chain, SettlementDeps } from '../../deps.ts';
import { chainOf } from '../../deps.ts';
import type { Budget } from '../../watch/budget.ts';
import { askDue } from './ask.ts';
import { wordOfSubmission } from './words.ts';

const LOOK_MS = 40;
const SLOWEST_LOOK_MS = 400;

/**
 * Stays with a facilitator's batch for `timeoutMs` at most: asks what is due and decides each payment by what the chain shows of its
 * (payer, nonce), whatever the facilitator says (safety 1, 3). A time-out, a 5xx, an unproven success decide nothing. Where none is configured any
 * more the chain alone decides, and the clocks. Calling it again, or from several processes, is harmless.
 */
export async function confirmWithFacilitator(
  deps: SettlementDeps,
  batchId: string,
  options: { readonly timeoutMs: number; readonly signal?: AbortSignal },
): Promise<ConfirmResult> {
  const batch = await findBatch(deps.database, batchId);
  if (!batch) return { undecided: 0, isMined: false };
  const facilitator = deps.facilitatorOf(batch.network);
  const call = chainOf(deps, batch.network);
  const deadline = performance.now() + options.timeoutMs;
  for (let pauseMs = LOOK_MS; ; pauseMs = Math.min(2 * pauseMs, SLOWEST_LOOK_MS)) {
    const open = await listOpenSubmissions(deps.database, batchId);
    await decide(call, open);
    const left = await listOpenSubmissions(deps.database, batchId);
    if (left.length === 0) {
      await setBatchState(deps.database, batchId, 'safe');
      return { undecided: 0, isMined: false };
    }
    const asked = facilitator ? await askDue(deps, facilitator, { ...call, batchId }, left) : [];
    const leftMs = deadline - performance.now();
    if (leftMs <= 0 || options.signal?.aborted) return { undecided: left.length, isMined: false };
    if (asked.length > 0) pauseMs = LOOK_MS;
    await Promise.race([sleep(Math.min(pauseMs, leftMs)), ...asked.map((one) => one.then(() => sleep(1)))]);
  }
}

/** Sweeps the batches of a network that nobody holds: once through, asking what is due (safety 7). */
export async function sweepFacilitator(deps: SettlementDeps, networkId: string, budget: Budget): Promise<void> {
  for (const batchId of await listOpenFacilitatorBatches(deps.database, networkId, 200)) {
    if (budget.isSpent()) break;
    await confirmWithFacilitator(deps, batchId, { timeoutMs: 0 });
  }
}

/** Decides what the chain, or the status of an id, decides. */
async function decide(call: Chain<SettlementDeps>, open: readonly Submission[]): Promise<void> {
  for (let at = 0; at < open.length; at += ROUND_LIMIT) {
    const lookups = open.slice(at, at + ROUND_LIMIT).map((submission) => {
      const rail = wordOfSubmission(submission);
      const { payment, reference } = submission;
      return { payment, hashes: reference && isTxHash(reference) ? [reference as Hex] : [], ...(rail && { rail }) };
    });
    const { changed } = await runRound(call, lookups, { atSafe: false });
    if (changed.length > 0) call.deps.crashAt('after_record');
  }
}
