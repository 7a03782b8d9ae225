import { cancellationSignal } from '@temporalio/activity';
import type { AlertDeps } from '../modules/budgets/use/sendAlerts.ts';
import { createAlertSender } from '../modules/budgets/use/sendAlerts.ts';
import type { MailDeps } from '../modules/mail/use/sendDue.ts';
import { keepSendingMails } from '../modules/mail/use/sendDue.ts';
import { beating } from './beating.ts';

/** The activity of `sendMessages`. */
export interface MessageActivities {
  /** Sends e-mails, and what accounts are told of their budgets, as they are due; at most 5 minutes, heart-beating. */
  sendDueMessages(): Promise<void>;
}

const HEARTBEAT_MS = 2_000;

/** One set a worker. */
export function createMessageActivities(deps: AlertDeps & MailDeps): MessageActivities {
  const alerts = createAlertSender(deps);
  const lanes = [alerts.run, (signal: AbortSignal) => keepSendingMails(deps, signal)];
  return { sendDueMessages: () => beating(HEARTBEAT_MS, () => together(lanes, cancellationSignal())) };
}

/** Until all lanes have ended; one that fails ends the others, so that none goes on beside those of the next attempt. */
async function together(lanes: readonly ((signal: AbortSignal) => Promise<void>)[], cancelled: AbortSignal): Promise<void> {
  const failed = new AbortController();
  const signal = AbortSignal.any([cancelled, failed.signal]);
  const endings = await Promise.allSettled(
    lanes.map((lane) =>
      lane(signal).catch((error: unknown) => {
        failed.abort();
        throw error;
      }),
    ),
  );
  for (const ending of endings) if (ending.status === 'rejected') throw ending.reason;
}
