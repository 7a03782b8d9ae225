import { activityInfo, cancellationSignal, heartbeat } from '@temporalio/activity';
import type { ConfirmResult } from '../modules/settlement/use/batch/confirm.ts';
import type { Flights } from '../modules/settlement/use/batch/flights.ts';
import type { ReportedConfirm, ReportedSend } from '../modules/settlement/use/batch/report.ts';
import { reportConfirmed, reportSent } from '../modules/settlement/use/batch/report.ts';
import type { BatchProposal } from '../modules/settlement/use/batchQueue.ts';
import type { SettlementDeps } from '../modules/settlement/use/deps.ts';
import { confirmCarried, sendProposal } from '../modules/settlement/use/rails/rails.ts';
import { flushSplits } from '../modules/settlement/use/relayer/flush.ts';
import type { Ownerless, SweptBatch } from '../modules/settlement/use/watch/sweep.ts';
import { findOwnerless, sweepNetwork } from '../modules/settlement/use/watch/sweep.ts';
import { beating } from './beating.ts';

/** The activities of settlement: each unpacks, calls a use of the module, and leaves retries to the workflow. */
export interface SettlementActivities {
  /** Claims, signs and sends a batch; at most 3 seconds, local (safety 20). */
  sendSettlement(proposal: BatchProposal): Promise<ReportedSend>;
  /** Looks for the batch's receipt for at most 2.2 seconds and records what is decided; local. */
  confirmSettlement(input: { readonly batchId: string }): Promise<ReportedConfirm>;
  /** Stays with a batch until all of it is decided; heart-beating, at most 5 minutes. */
  awaitSettlement(input: { readonly batchId: string }): Promise<ReportedConfirm>;
  /** What a crash left without a workflow, to be started at once; quick, whatever else there is to sweep. */
  recoverAccepted(input: { readonly network: string }): Promise<Ownerless>;
  /** One round over everything that no live workflow holds. */
  sweepPayments(input: { readonly network: string }): Promise<{ readonly batches: readonly SweptBatch[] }>;
  /** Pays out splits that hold money. */
  flushSplits(input: { readonly network: string }): Promise<number>;
}

const HEARTBEAT_MS = 5_000;
const LOCAL_WAIT_MS = 2_200;
const WAIT_MS = 2_000;
const LONGEST_MS = 4 * 60_000;

/** The activities over one set of dependencies; `flights` are the batches that this process sends by itself. */
export function createSettlementActivities(deps: SettlementDeps, flights: Pick<Flights, 'find'>): SettlementActivities {
  return {
    sendSettlement: async (proposal) => {
      if (flights.find(proposal.batchId) !== null) return { kind: 'sent', rest: [], batch: null };
      const sent = await sendProposal(deps, proposal, activityInfo().workflowExecution?.workflowId ?? null);
      return reportSent(deps, proposal.batchId, sent);
    },
    confirmSettlement: async ({ batchId }) => {
      // A batch that is being confirmed here is not looked at twice.
      const confirmed = await (flights.find(batchId) ?? confirmCarried(deps, batchId, { timeoutMs: LOCAL_WAIT_MS }));
      return reportConfirmed(deps, batchId, confirmed);
    },
    awaitSettlement: async ({ batchId }) => reportConfirmed(deps, batchId, await stayWith(deps, batchId)),
    recoverAccepted: ({ network }) => findOwnerless(deps, network),
    sweepPayments: ({ network }) => beating(HEARTBEAT_MS, async () => ({ batches: await sweepNetwork(deps, network) })),
    flushSplits: ({ network }) => beating(HEARTBEAT_MS, () => flushOrWarn(deps, network)),
  };
}

async function stayWith(deps: SettlementDeps, batchId: string): Promise<ConfirmResult> {
  const deadline = deps.now() + LONGEST_MS;
  const rest: ConfirmResult['rest'][number][] = [];
  for (;;) {
    heartbeat();
    const result = await confirmCarried(deps, batchId, { timeoutMs: WAIT_MS, signal: cancellationSignal() });
    rest.push(...result.rest);
    if (result.undecided === 0 || deps.now() > deadline || cancellationSignal().aborted) return { ...result, rest };
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** An outage here must not hold up the sweeper's next round: splits are looked at again. */
async function flushOrWarn(deps: SettlementDeps, network: string): Promise<number> {
  try {
    return await flushSplits(deps, network);
  } catch (error) {
    deps.log.warn({ network, error: String(error) }, 'splits could not be looked at; the next round does');
    return 0;
  }
}
