import { continueAsNew, proxyActivities, sleep } from '@temporalio/workflow';
import type { WebhookActivities } from '../activities/webhooks.ts';
import { CLOSE_AHEAD_MS } from '../modules/webhooks/rules/window.ts';
import { keepStatus } from './status.ts';

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
  const told = keepStatus({ state: 'closes windows' });
  for (let round = 0; round < ROUNDS; round++) {
    const { events, nextInMs } = await closeWindows();
    const now = Date.now();
    told.tell({
      'last look': new Date(now).toISOString(),
      'events made': events,
      'next window ends': new Date(now + nextInMs).toISOString(),
    });
    if (nextInMs > CLOSE_AHEAD_MS) await sleep(nextInMs - CLOSE_AHEAD_MS, { summary: 'until a window ends' });
  }
  await continueAsNew<typeof closeEventWindows>();
}
