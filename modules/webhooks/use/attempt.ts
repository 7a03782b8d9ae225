import type { AttemptOutcome } from '../rules/deliveryWorkflow.ts';
import type { RetryLease } from '../store/leases.ts';
import { leaseRetry } from '../store/leases.ts';
import { freezeChatBodies } from './chatBodies.ts';
import type { WebhookDeps } from './deps.ts';
import { postDelivery, recordOf } from './post.ts';
import type { Recorder } from './recorder.ts';

/** Which attempt of which delivery. */
export interface AttemptKey {
  readonly tenantId: string;
  readonly deliveryId: string;
  readonly attempt: number;
}

const SLOT_POLL_MS = 200;

/**
 * Makes one later attempt, for the delivery's own workflow. An attempt that is recorded already is not made again: the answer
 * then says what comes next. `busy` uses no attempt.
 */
export async function attemptDelivery(deps: WebhookDeps, recorder: Recorder, key: AttemptKey): Promise<AttemptOutcome> {
  const lease = await waitForLease(deps, key);
  if (lease.kind === 'busy') return { kind: 'busy' };
  if (lease.kind === 'ended') return { kind: 'ended', state: lease.state };
  if (lease.kind === 'recorded') return { kind: 'retry', attempt: lease.attempts + 1, dueAtMs: lease.dueAtMs };
  const record = recordOf(lease.delivery, await postDelivery(deps, lease.delivery));
  const written = await recorder.record(record);
  deps.wake.wake(); // a slot is free again
  if (!written) return { kind: 'busy' }; // our lease was over: ask again what holds
  if (record.dueAtMs === null) return { kind: 'ended', state: record.state };
  return { kind: 'retry', attempt: lease.delivery.attempt + 1, dueAtMs: record.dueAtMs };
}

async function waitForLease(deps: WebhookDeps, key: AttemptKey): Promise<RetryLease> {
  const deadline = performance.now() + deps.limits.slotWaitMs;
  for (;;) {
    const lease = await leaseWithBody(deps, key);
    if (lease.kind !== 'busy' || performance.now() >= deadline || deps.stopping.aborted) return lease;
    await new Promise((resolve) => setTimeout(resolve, SLOT_POLL_MS));
  }
}

async function leaseWithBody(deps: WebhookDeps, key: AttemptKey): Promise<RetryLease> {
  return await deps.database.transaction(async (sql) => {
    const lease = await leaseRetry(sql, key, deps.limits.leaseMs);
    if (lease.kind !== 'leased') return lease;
    const [delivery] = await freezeChatBodies(sql, [lease.delivery]);
    return delivery === undefined ? lease : { kind: 'leased', delivery };
  });
}
