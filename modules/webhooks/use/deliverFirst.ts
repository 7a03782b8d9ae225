import type { LeasedDelivery } from '../store/leases.ts';
import type { WebhookDeps } from './deps.ts';
import { postDelivery, recordOf } from './post.ts';
import type { Recorder } from './recorder.ts';

/**
 * Makes the first attempt of a leased delivery: sends, records, and has the endpoint's workflow signalled when it failed, without waiting for
 * that. Never rejects: a lease that is not ended here expires.
 */
export async function deliverFirst(deps: WebhookDeps, recorder: Recorder, delivery: LeasedDelivery): Promise<void> {
  const { tenantId, deliveryId, endpointId } = delivery;
  try {
    const record = recordOf(delivery, await postDelivery(deps, delivery));
    const written = await recorder.record(record);
    deps.wake.wake(); // a slot is free again
    if (written && record.dueAtMs !== null) deps.notices.add({ tenantId, endpointId, dueAtMs: record.dueAtMs });
  } catch (error) {
    deps.warn('a webhook delivery was not recorded; it is made again when its lease ends', {
      tenantId,
      deliveryId,
      error,
    });
  }
}
