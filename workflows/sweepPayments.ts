import { ParentClosePolicy, proxyActivities, sleep, startChild } from '@temporalio/workflow';
import type { SettlementActivities } from '../activities/settlement.ts';
import { purchaseStart } from '../modules/licences/rules/purchaseNews.ts';
import type { PurchaseLicenceInput } from './purchaseLicence.ts';
import { keepStatus } from './status.ts';

type Untaken = Awaited<ReturnType<SettlementActivities['findUntaken']>>;

const OPTIONS = {
  startToCloseTimeout: '2m',
  heartbeatTimeout: '30s',
  scheduleToCloseTimeout: '10m',
  retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '10s' },
} as const;
const { findUntaken } = proxyActivities<SettlementActivities>({ ...OPTIONS, summary: 'what nobody took' });
const { sweepPayments: sweep } = proxyActivities<SettlementActivities>({ ...OPTIONS, summary: 'what no workflow holds' });
const { flushSplits } = proxyActivities<SettlementActivities>({ ...OPTIONS, summary: 'splits that hold money' });

/** How a run of the sweeper looks. */
export interface SweepPaymentsInput {
  readonly network: string;
  /** Between its looks. */
  readonly intervalMs: number;
  readonly looks: number;
}

/** What a run of the sweeper did. */
export interface SweepResult {
  readonly state: 'nothing is open' | 'payments are open';
  /** Batches that had lost their workflow, and have it again. */
  readonly batches: number;
  /** Licence purchases that nobody followed. */
  readonly purchases: number;
  /** Splits paid out. */
  readonly splits: number;
}

/**
 * Sweeps a network’s payments (safety 3, 4, 7): sees to it that what nobody took is taken, licence purchases included, resends,
 * finalises, watches authorizations until they can move nothing, and pays out splits that hold money. The first look is a whole one; where
 * nothing is open, each further one asks only whether that is still so. The schedule `sweepPayments:<network>` has the next run follow at once.
 */
export async function sweepPayments({ network, intervalMs, looks }: SweepPaymentsInput): Promise<SweepResult> {
  const told = keepStatus({ network });
  let result: SweepResult = { state: 'nothing is open', batches: 0, purchases: 0, splits: 0 };
  for (let look = 0; look < looks; look++) {
    if (look > 0) await sleep(intervalMs, { summary: 'next look' });
    // What a crash left behind goes first: a round over everything else takes as long as there is work.
    const found = await findUntaken({ network });
    await followAll(found.purchases);
    const isWhole = look === 0;
    const batches = isWhole || !found.isIdle ? await sweep({ network }) : 0;
    const splits = isWhole ? await flushSplits({ network }) : 0;
    result = {
      state: found.isIdle ? 'nothing is open' : 'payments are open',
      batches: result.batches + batches,
      purchases: result.purchases + found.purchases.length,
      splits: result.splits + splits,
    };
    told.tell({ ...result, 'last look': new Date().toISOString() });
  }
  return result;
}

/** Starts the workflow of each licence purchase that has none; one that has it by now keeps it. */
async function followAll(purchases: Untaken['purchases']): Promise<void> {
  for (const { tenantId, paymentId } of purchases) {
    try {
      await startChild('purchaseLicence', {
        ...purchaseStart({ tenantId, paymentId } satisfies PurchaseLicenceInput),
        parentClosePolicy: ParentClosePolicy.ABANDON,
      });
    } catch (error) {
      if ((error as { name?: unknown }).name !== 'WorkflowExecutionAlreadyStartedError') throw error;
    }
  }
}
