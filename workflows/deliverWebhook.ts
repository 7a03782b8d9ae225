import { ActivityFailure, continueAsNew, log, proxyActivities, sleep } from '@temporalio/workflow';
import type { WebhookActivities } from '../activities/webhooks.ts';
import { siteKey } from '../modules/kernel/workflow/attributes.ts';
import type { AttemptOutcome, RetryStart } from '../modules/webhooks/rules/deliveryWorkflow.ts';
import { busyDelayMs } from '../modules/webhooks/rules/deliveryWorkflow.ts';
import { keepStatus } from './status.ts';

/** One request is one attempt: the server repeats nothing by itself. */
const { attemptWebhook } = proxyActivities<WebhookActivities>({
  startToCloseTimeout: '40s',
  heartbeatTimeout: '10s',
  retry: { maximumAttempts: 1 },
});

const ROUNDS = 200;

/**
 * Owns a delivery whose first attempt failed: sleeps until the next attempt is due, has it made, until it is delivered, failed
 * for good or exhausted (eight attempts in 27.6 hours); `Outcome`: `retrying`, then that. An attempt whose end nobody recorded, because a worker
 * died or the database was away, is asked for again under the same number. Runs as `delivery:<id>` and returns the last state.
 */
export async function deliverWebhook(start: RetryStart): Promise<string> {
  let { attempt, dueAtMs } = start;
  let waits = 0;
  const told = keepStatus({ state: 'retrying', delivery: start.deliveryId, site: start.tenantId });
  told.tell({}, { SiteIds: [siteKey(start.tenantId)], Outcome: 'retrying' });
  for (let round = 0; round < ROUNDS; round++) {
    told.tell({ 'next attempt': attempt, 'next attempt at': new Date(dueAtMs).toISOString() });
    await sleep(Math.max(1, dueAtMs - Date.now()), { summary: `attempt ${attempt}` });
    const outcome = await tryAttempt({ ...start, attempt });
    if (outcome.kind === 'ended') {
      told.tell({ state: outcome.state, 'next attempt': null, 'next attempt at': null }, { Outcome: outcome.state });
      return outcome.state;
    }
    if (outcome.kind === 'retry') {
      waits = 0;
      ({ attempt, dueAtMs } = outcome);
    } else {
      dueAtMs = Date.now() + busyDelayMs(waits++);
    }
  }
  return await continueAsNew<typeof deliverWebhook>({ ...start, attempt, dueAtMs });
}

async function tryAttempt(key: RetryStart): Promise<AttemptOutcome> {
  const { tenantId, deliveryId, attempt } = key;
  try {
    return await attemptWebhook({ tenantId, deliveryId, attempt });
  } catch (error) {
    if (!(error instanceof ActivityFailure)) throw error;
    log.warn('an attempt was not recorded and is made again', { deliveryId, attempt });
    return { kind: 'busy' };
  }
}
