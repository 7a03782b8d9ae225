import type { Client } from '@temporalio/client';
import type { PaymentRef } from '../../db/settlement/payment.ts';
import type { Log } from '../settlement/deps.ts';

/**
 * Starts `purchaseLicence` as `licence:<jti>` for purchases that got their row; one that runs stays. When it cannot be started
 * the purchase settles all the same, so that this is only written to the log.
 */
export function createPurchaseStart(client: Client, taskQueue: string, log: Log): (payment: PaymentRef) => void {
  return ({ tenantId, paymentId }) => {
    client.workflow
      .start('purchaseLicence', {
        taskQueue,
        workflowId: `licence:${paymentId}`,
        workflowIdConflictPolicy: 'USE_EXISTING',
        workflowTaskTimeout: '5s',
        args: [{ tenantId, paymentId }],
      })
      .catch((error: unknown) =>
        log.warn({ paymentId, error: String(error) }, 'the workflow of a licence purchase was not started'),
      );
  };
}
