import type { RetryLease } from '../store/leases.ts';
import { leaseRetry } from '../store/leases.ts';
import type { DueAttempt } from '../store/receiver.ts';
import { freezeChatBodies } from './chatBodies.ts';
import type { WebhookDeps } from './deps.ts';
import { postDelivery, recordOf } from './post.ts';
import type { Recorder } from './recorder.ts';

const SLOT_POLL_MS = 200;

/**
 * Makes one later attempt, unless it is recorded already; without a free slot none. What follows from it is in the rows. Rejects when the
 * attempt could not be recorded; its lease ends then, and it is made again.
 */
export async function attemptDelivery(deps: WebhookDeps, recorder: Recorder, key: DueAttempt): Promise<void> {
  const lease = await waitForLease(deps, key);
  if (lease.kind !== 'leased') return;
  await recorder.record(recordOf(lease.delivery, await postDelivery(deps, lease.delivery)));
  deps.wake.wake(); // a slot is free again
}

async function waitForLease(deps: WebhookDeps, key: DueAttempt): Promise<RetryLease> {
  const deadline = performance.now() + deps.limits.slotWaitMs;
  for (;;) {
    const lease = await leaseWithBody(deps, key);
    if (lease.kind !== 'busy' || performance.now() >= deadline || deps.stopping.aborted) return lease;
    await new Promise((resolve) => setTimeout(resolve, SLOT_POLL_MS));
  }
}

async function leaseWithBody(deps: WebhookDeps, key: DueAttempt): Promise<RetryLease> {
  return await deps.database.transaction(async (sql) => {
    const lease = await leaseRetry(sql, key, deps.limits.leaseMs);
    if (lease.kind !== 'leased') return lease;
    const [delivery] = await freezeChatBodies(sql, [lease.delivery]);
    return delivery === undefined ? lease : { kind: 'leased', delivery };
  });
}
