import type { Transporter } from 'nodemailer';

/** One e-mail in plain text. */
export interface Mail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  /** The same for the same e-mail sent again, so that a mail program shows it once: letters, digits, `_`, `-` and `.`. */
  readonly id: string;
}

/** The way out for e-mail. */
export interface Mailer {
  /** Hands an e-mail to the mail server. Throws when it is not taken. */
  send(mail: Mail): Promise<void>;
  close(): void;
}

const TIMEOUT_MS = 10_000;

/**
 * A mailer for one server (`smtp://` or `smtps://`, user and password in the URL). Nothing is loaded or connected before the first e-mail.
 */
export function createMailer(options: { readonly url: string; readonly from: string }): Mailer {
  let transport: Promise<Transporter> | null = null;
  const domain = options.from.slice(options.from.lastIndexOf('@') + 1);
  return {
    send: async ({ to, subject, text, id }) => {
      transport ??= connect(options.url);
      await (await transport).sendMail({
        from: { name: '', address: options.from },
        to: { name: '', address: to },
        subject,
        text,
        messageId: `<${id}@${domain}>`,
        headers: { 'Auto-Submitted': 'auto-generated' },
      });
    },
    close: () => void transport?.then((opened) => opened.close()),
  };
}

async function connect(url: string): Promise<Transporter> {
  const { createTransport } = await import('nodemailer');
  return createTransport({
    url,
    connectionTimeout: TIMEOUT_MS,
    greetingTimeout: TIMEOUT_MS,
    socketTimeout: TIMEOUT_MS,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
}
