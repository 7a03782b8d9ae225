import { continueAsNew, ParentClosePolicy, patched, proxyActivities, startChild } from '@temporalio/workflow';
import type { SettlementActivities } from '../activities/settlement.ts';
import { PURCHASE_SUMMARY } from '../modules/licences/rules/purchaseNews.ts';
import { watchInterval } from './interval.ts';
import type { PurchaseLicenceInput } from './purchaseLicence.ts';
import { startBatch } from './startBatch.ts';
import { keepStatus } from './status.ts';

type Ownerless = Awaited<ReturnType<SettlementActivities['recoverAccepted']>>;

const {
  recoverAccepted,
  sweepPayments: sweep,
  flushSplits,
} = proxyActivities<SettlementActivities>({
  startToCloseTimeout: '2m',
  heartbeatTimeout: '30s',
  retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '10s' },
});

/** How the sweeper of a network runs. */
export interface SweepPaymentsInput {
  readonly network: string;
  readonly intervalMs: number;
  /** Splits are looked at every so many rounds. */
  readonly flushEvery: number;
}

const ROUNDS = 240;

/**
 * Looks after a network's payments for good, as `sweepPayments:<network>` (safety 3, 4, 7): picks up what no live workflow
 * holds, licence purchases included, resends, finalises, watches authorizations until they can move nothing, and pays out splits that hold money. Where nothing is
 * open, a round asks only whether that is still so, and every `flushEvery`th is a whole one.
 */
export async function sweepPayments(input: SweepPaymentsInput): Promise<void> {
  const interval = watchInterval(input.intervalMs);
  const told = keepStatus({ network: input.network });
  told.tell({}, { Network: input.network });
  for (let round = 0; round < ROUNDS; round++) {
    // What a crash left behind goes first: a round over everything else takes as long as there is work.
    const found = patched('accepted-first') ? await recoverAccepted({ network: input.network }) : null;
    if (found) {
      await startAll(found.batches);
      await followAll(found.purchases);
    }
    const isWhole = round % input.flushEvery === 0;
    if (isWhole || found?.isIdle !== true) await startAll((await sweep({ network: input.network })).batches);
    if (isWhole) await flushSplits({ network: input.network });
    told.tell({ state: found?.isIdle ? 'nothing is open' : 'payments are open', 'last round': new Date().toISOString() });
    await interval.pause();
  }
  await continueAsNew<typeof sweepPayments>({ ...input, intervalMs: interval.ms });
}

async function startAll(batches: Ownerless['batches']): Promise<void> {
  for (const batch of batches) await startBatch(batch);
}

/** Starts the workflow of each licence purchase that has none; one that has it by now keeps it. */
async function followAll(purchases: Ownerless['purchases']): Promise<void> {
  for (const { tenantId, paymentId } of purchases) {
    try {
      await startChild('purchaseLicence', {
        workflowId: `licence:${paymentId}`,
        args: [{ tenantId, paymentId } satisfies PurchaseLicenceInput],
        staticSummary: PURCHASE_SUMMARY,
        parentClosePolicy: ParentClosePolicy.ABANDON,
        workflowTaskTimeout: '5s',
      });
    } catch (error) {
      if ((error as { name?: unknown }).name !== 'WorkflowExecutionAlreadyStartedError') throw error;
    }
  }
}
