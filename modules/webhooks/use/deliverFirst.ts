import type { LeasedDelivery } from '../store/leases.ts';
import type { WebhookDeps } from './deps.ts';
import { postDelivery, recordOf } from './post.ts';
import type { Recorder } from './recorder.ts';

/**
 * Makes the first attempt of a leased delivery: sends, records, and tells the endpoint's workflow when it failed. Never rejects: a
 * lease that is not ended here expires.
 */
export async function deliverFirst(deps: WebhookDeps, recorder: Recorder, delivery: LeasedDelivery): Promise<void> {
  const { tenantId, deliveryId, endpointId } = delivery;
  try {
    const record = recordOf(delivery, await postDelivery(deps, delivery));
    const written = await recorder.record(record);
    deps.wake.wake(); // a slot is free again
    if (written && record.dueAtMs !== null) await deps.retries.due({ tenantId, endpointId }, record.dueAtMs - Date.now());
  } catch (error) {
    deps.warn('a webhook delivery was not recorded or not handed over; it is found within a minute of being due', {
      tenantId,
      deliveryId,
      error,
    });
  }
}
