import { cancellationSignal } from '@temporalio/activity';
import type { AlertDeps } from '../modules/budgets/use/sendAlerts.ts';
import { createAlertSender } from '../modules/budgets/use/sendAlerts.ts';
import { beating } from './beating.ts';

/** The activity of `sendBudgetAlerts`. */
export interface BudgetAlertActivities {
  /** Sends what accounts are told of their budgets; at most 5 minutes, heart-beating. */
  sendDueAlerts(): Promise<void>;
}

const HEARTBEAT_MS = 2_000;

/** One set a worker. */
export function createBudgetAlertActivities(deps: AlertDeps): BudgetAlertActivities {
  const sender = createAlertSender(deps);
  return { sendDueAlerts: () => beating(HEARTBEAT_MS, () => sender.run(cancellationSignal())) };
}
