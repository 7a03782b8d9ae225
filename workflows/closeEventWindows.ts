import { proxyActivities, sleep } from '@temporalio/workflow';
import type { WebhookActivities } from '../activities/webhooks.ts';
import { CLOSE_AHEAD_MS } from '../modules/webhooks/rules/window.ts';
import { keepStatus } from './status.ts';

const { closeWindows } = proxyActivities<WebhookActivities>({
  startToCloseTimeout: '5m',
  heartbeatTimeout: '10s',
  scheduleToCloseTimeout: '10m',
  retry: { initialInterval: '1s', maximumInterval: '30s' },
  summary: 'close what ends soon',
});

/**
 * Closes the event windows that end within a period, each at the moment it ends: every look says when the next one ends, and the workflow
 * sleeps until shortly before. Returns how many events it made. The schedule `closeEventWindows` has the next run follow at once; its
 * `periodMs` is no shorter than a window, so that each window is open when the run in which it ends begins.
 */
export async function closeEventWindows({ periodMs }: { readonly periodMs: number }): Promise<{ readonly events: number }> {
  const told = keepStatus({ state: 'closes windows' });
  const endsAt = Date.now() + periodMs;
  for (let events = 0; ; ) {
    const look = await closeWindows();
    events += look.events;
    const nextAt = Date.now() + look.nextInMs;
    told.tell({ events, 'last look': new Date().toISOString(), 'next window ends': new Date(nextAt).toISOString() });
    if (nextAt >= endsAt) return { events };
    if (look.nextInMs > CLOSE_AHEAD_MS) await sleep(look.nextInMs - CLOSE_AHEAD_MS, { summary: 'until a window ends' });
  }
}
