import { continueAsNew, proxyActivities } from '@temporalio/workflow';
import type { BudgetAlertActivities } from '../activities/budgetAlerts.ts';
import { keepStatus } from './status.ts';

const { sendDueAlerts } = proxyActivities<BudgetAlertActivities>({
  startToCloseTimeout: '5m',
  heartbeatTimeout: '10s',
  retry: { initialInterval: '1s', backoffCoefficient: 1.5, maximumInterval: '30s' },
  summary: 'what is due, for five minutes at most',
});

/** Sends the alerts of budgets for good, one pass after the other, each in a run of its own. Runs as `sendBudgetAlerts`. */
export async function sendBudgetAlerts(): Promise<void> {
  keepStatus({ state: 'sends what is due' });
  await sendDueAlerts();
  await continueAsNew<typeof sendBudgetAlerts>();
}
