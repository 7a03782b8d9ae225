import { ParentClosePolicy, startChild, uuid4 } from '@temporalio/workflow';
import { pairsOf } from '../modules/kernel/workflow/attributes.ts';
import { TASK_TIMEOUT } from '../modules/kernel/workflow/taskTimeout.ts';
import { batchStart } from '../modules/settlement/rules/batchOutcome.ts';
import type { SettlePaymentsInput } from './settlePayments.ts';

/** Starts a batch for payments that need one, as `settle:<network>:<batchId>`; it outlives its parent. */
export async function startBatch({ network, payments }: Pick<SettlePaymentsInput, 'network' | 'payments'>): Promise<void> {
  if (payments.length === 0) return;
  const batchId = uuid4();
  const { summary, attributes } = batchStart({ network, payments });
  await startChild('settlePayments', {
    workflowId: `settle:${network}:${batchId}`,
    args: [{ network, batchId, payments } satisfies SettlePaymentsInput],
    staticSummary: summary,
    typedSearchAttributes: pairsOf(attributes),
    parentClosePolicy: ParentClosePolicy.ABANDON,
    workflowTaskTimeout: TASK_TIMEOUT,
  });
}
