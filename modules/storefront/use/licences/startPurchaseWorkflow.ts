import type { Client } from '@temporalio/client';
import type { Log } from '../../../kernel/log.ts';
import { purchaseStart } from '../../../licences/rules/purchaseNews.ts';
import type { PaymentRef } from '../../../settlement/store/payment.ts';

/**
 * Starts `purchaseLicence` as `licence:<jti>` for purchases that got their row; one that runs stays. Where that fails, or the process dies
 * first, its row in `open_purchase` has the sweeper start it.
 */
export function createPurchaseStart(client: Client, taskQueue: string, log: Log): (payment: PaymentRef) => void {
  const start = ({ tenantId, paymentId }: PaymentRef) =>
    client.workflow.start('purchaseLicence', {
      ...purchaseStart({ tenantId, paymentId }),
      taskQueue,
      workflowIdConflictPolicy: 'USE_EXISTING',
    });
  return (payment) => {
    start(payment).catch((error: unknown) => {
      log.warn({ paymentId: payment.paymentId, error: String(error) }, 'the sweeper starts the workflow of a licence purchase');
    });
  };
}
