import { text, url } from '../parsers.ts';
import { optional, withDefault } from '../variable.ts';

/** E-mail of alerts. */
export const mail = {
  smtpUrl: optional({
    name: 'SMTP_URL',
    about: 'The mail server for alerts, user and password included. Not set: no e-mail is sent.',
    example: 'smtps://user:password@mail.example:465',
    fromFile: true,
    schema: url('smtps', 'smtp'),
  }),
  alertMailFrom: withDefault({
    name: 'ALERT_MAIL_FROM',
    about: 'The address alerts come from.',
    example: 'alerts@service.example',
    fallback: 'alerts@localhost',
    schema: text.regex(/^[^\s@<>,;]+@[^\s@<>,;]+$/, 'must be one e-mail address'),
  }),
};
