import type { Mailer } from '../platform/mail.ts';
import { createMailer } from '../platform/mail.ts';
import type { WorkerConfig } from './config.ts';

/** The way out for e-mail; null without SMTP_URL. */
export function openMailer({ smtpUrl, alertMailFrom }: Pick<WorkerConfig, 'smtpUrl' | 'alertMailFrom'>): Mailer | null {
  return smtpUrl === undefined ? null : createMailer({ url: smtpUrl, from: alertMailFrom });
}
