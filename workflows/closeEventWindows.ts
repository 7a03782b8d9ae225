import { continueAsNew, proxyActivities, sleep } from '@temporalio/workflow';
import type { WebhookActivities } from '../activities/webhooks.ts';
import { CLOSE_AHEAD_MS } from '../modules/webhooks/rules/window.ts';

const { closeWindows } = proxyActivities<WebhookActivities>({
  startToCloseTimeout: '5m',
  heartbeatTimeout: '10s',
  retry: { initialInterval: '1s', maximumInterval: '30s' },
});

const ROUNDS = 200;

/**
 * Closes event windows the moment they end: each look says when the next one ends, and this workflow sleeps until shortly before
 * (never longer than a window). Runs for good, as `closeEventWindows`.
 */
export async function closeEventWindows(): Promise<void> {
  for (let round = 0; round < ROUNDS; round++) {
    const { nextInMs } = await closeWindows();
    if (nextInMs > CLOSE_AHEAD_MS) await sleep(nextInMs - CLOSE_AHEAD_MS);
  }
  await continueAsNew<typeof closeEventWindows>();
}
