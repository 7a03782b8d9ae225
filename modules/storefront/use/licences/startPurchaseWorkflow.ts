import type { Client } from '@temporalio/client';
import type { Log } from '../../../kernel/log.ts';
import type { PaymentRef } from '../../../settlement/store/payment.ts';

/** Waits between tries to start a workflow, while Temporal is away. */
const WAITS_MS = [1_000, 5_000, 30_000, 120_000, 600_000];
/** Most purchases of a process that wait for another try. */
const MOST_WAITING = 1_000;

/**
 * Starts `purchaseLicence` as `licence:<jti>` for purchases that got their row; one that runs stays. While Temporal is away it tries
 * again, for a quarter of an hour: a purchase settles and its licence stands all the same, but nobody else tells the account.
 */
export function createPurchaseStart(client: Client, taskQueue: string, log: Log): (payment: PaymentRef) => void {
  let waiting = 0;
  const start = async ({ tenantId, paymentId }: PaymentRef, tries: number): Promise<void> => {
    try {
      await client.workflow.start('purchaseLicence', {
        taskQueue,
        workflowId: `licence:${paymentId}`,
        workflowIdConflictPolicy: 'USE_EXISTING',
        workflowTaskTimeout: '5s',
        staticSummary: 'follows the purchase of a licence and tells its account',
        args: [{ tenantId, paymentId }],
      });
    } catch (error) {
      log.warn({ paymentId, tries, error: String(error) }, 'the workflow of a licence purchase was not started');
      const waitMs = WAITS_MS[tries];
      if (waitMs === undefined || waiting >= MOST_WAITING) return;
      waiting += 1;
      await new Promise((resolve) => setTimeout(resolve, waitMs).unref());
      waiting -= 1;
      await start({ tenantId, paymentId }, tries + 1);
    }
  };
  return (payment) => void start(payment, 0);
}
