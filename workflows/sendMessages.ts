import { continueAsNew, proxyActivities } from '@temporalio/workflow';
import type { MessageActivities } from '../activities/messages.ts';
import { keepStatus } from './status.ts';

const { sendDueMessages } = proxyActivities<MessageActivities>({
  startToCloseTimeout: '5m',
  heartbeatTimeout: '10s',
  retry: { initialInterval: '1s', backoffCoefficient: 1.5, maximumInterval: '30s' },
  summary: 'what is due, for five minutes at most',
});

/** Sends e-mails and the alerts of budgets for good, one pass after the other, each in a run of its own. Runs as `sendMessages`. */
export async function sendMessages(): Promise<void> {
  keepStatus({ state: 'sends what is due' });
  await sendDueMessages();
  await continueAsNew<typeof sendMessages>();
}
