import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../../../db/database.ts';
import type { Mailer } from '../../../platform/mail.ts';
import type { SecretBox } from '../../../platform/tokens/secretBox.ts';
import { markMailSent, takeDueMails } from '../store/mails.ts';

/** What sending e-mails needs. */
export interface MailDeps {
  readonly database: Database;
  /** Null: no mail server is configured. */
  readonly mailer: Pick<Mailer, 'send'> | null;
  /** Opens what an e-mail's text is sealed with. */
  readonly secretBox: Pick<SecretBox, 'open'>;
  /** Says what an operator should know; never a secret. */
  readonly warn: (message: string, fields: Readonly<Record<string, unknown>>) => void;
}

/** What binds a sealed text to its e-mail. */
export const sealedMailContext = (tenantId: string, mailId: string): string => `mail ${tenantId} ${mailId}`;

/**
 * Sends what the alert outbox holds; nothing without a mail server. An e-mail the server does not take comes up again later, and
 * one whose sending nobody noted is sent again under the same message id. Returns how many were handed over.
 */
export async function sendAlertMails(deps: MailDeps, cancelled?: AbortSignal): Promise<number> {
  const { database, mailer, secretBox, warn } = deps;
  let sent = 0;
  while (mailer !== null && cancelled?.aborted !== true) {
    // One at a time: of several, the last would wait behind a server that hangs for longer than it may be left alone.
    const [mail] = await takeDueMails(database, 1);
    if (mail === undefined) break;
    try {
      const text =
        mail.sealed === null ? mail.detail : secretBox.open(mail.sealed, sealedMailContext(mail.tenantId, mail.mailId));
      await mailer.send({ to: mail.toAddress, subject: mail.subject, text, id: mail.mailId });
      await markMailSent(database, mail);
      sent += 1;
    } catch (error) {
      warn('an alert e-mail was not sent; it is tried again', { tenantId: mail.tenantId, mailId: mail.mailId, error });
    }
  }
  return sent;
}

/** How e-mails are kept going. */
export interface MailPass {
  readonly limits: {
    /** One pass of the activity, ms. */
    readonly passMs: number;
    /** How often it looks, ms. */
    readonly pollMs: number;
  };
  /** Aborted when the worker stops. */
  readonly stopping: AbortSignal;
}

/** One pass: sends e-mails as they are due until it is over, the worker stops or `cancelled` aborts. Ends at once without a mail server. */
export async function keepSendingMails(deps: MailDeps & MailPass, cancelled: AbortSignal): Promise<void> {
  const stop = AbortSignal.any([deps.stopping, cancelled, AbortSignal.timeout(deps.limits.passMs)]);
  while (deps.mailer !== null && !stop.aborted) {
    await sendAlertMails(deps, stop);
    await sleep(deps.limits.pollMs, undefined, { signal: stop }).catch(() => undefined);
  }
}
