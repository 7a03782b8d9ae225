import { proxyLocalActivities } from '@temporalio/workflow';
import type { EachActivities } from './workflowWorker.ts';

const { send, confirm } = proxyLocalActivities<EachActivities>({ startToCloseTimeout: '10s' });

/** The reference: one workflow a payment, in two local activities. */
export async function settleOne(input: { readonly transfer: string }): Promise<void> {
  const { paymentId, hash } = await send(input);
  await confirm({ paymentId, hash });
}
