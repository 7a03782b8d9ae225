import { ParentClosePolicy, proxyActivities, proxyLocalActivities, sleep, startChild, uuid4 } from '@temporalio/workflow';
import type { SettlementActivities } from '../activities/settlement.ts';

/** What a batch is started with: ids only (safety 20). */
export interface SettlePaymentsInput {
  readonly network: string;
  readonly batchId: string;
  readonly payments: readonly { readonly tenantId: string; readonly paymentId: string }[];
}

const local = proxyLocalActivities<SettlementActivities>({
  startToCloseTimeout: '3s',
  retry: { initialInterval: '100ms', backoffCoefficient: 2, maximumInterval: '5s' },
});

const { awaitSettlement } = proxyActivities<SettlementActivities>({
  startToCloseTimeout: '5m',
  heartbeatTimeout: '10s',
  retry: { initialInterval: '500ms', backoffCoefficient: 2, maximumInterval: '10s' },
});

const BUSY_ROUNDS = 40;
const BUSY_MS = 250;

/**
 * Settles one batch of payments, as `settle:<network>:<batchId>`. Its arguments are proposals: the first
 * activity claims, signs and sends what is still open (safety 7); then it stays with the batch until every payment in it
 * is decided, first by short local looks, then by one heart-beating activity (safety 20). Payments that need another
 * batch get one of their own. It ends without settling anything when all queues stay full: the sweeper comes again.
 */
export async function settlePayments(input: SettlePaymentsInput): Promise<void> {
  const sent = await send(input);
  await startRest(input.network, sent.rest);
  if (sent.kind !== 'sent') return;
  const first = await local.confirmSettlement({ batchId: input.batchId });
  await startRest(input.network, first.rest);
  if (first.undecided === 0) return;
  const last = await awaitSettlement({ batchId: input.batchId });
  await startRest(input.network, last.rest);
}

async function send(input: SettlePaymentsInput): ReturnType<SettlementActivities['sendSettlement']> {
  for (let round = 0; ; round++) {
    const result = await local.sendSettlement(input);
    if (result.kind !== 'busy' || round === BUSY_ROUNDS) return result;
    await startRest(input.network, result.rest);
    await sleep(BUSY_MS);
  }
}

async function startRest(network: string, payments: SettlePaymentsInput['payments']): Promise<void> {
  if (payments.length === 0) return;
  const batchId = uuid4();
  await startChild(settlePayments, {
    workflowId: `settle:${network}:${batchId}`,
    args: [{ network, batchId, payments }],
    memo: { payments: payments.map((payment) => payment.paymentId) },
    parentClosePolicy: ParentClosePolicy.ABANDON,
    workflowTaskTimeout: '5s',
  });
}
