import { wholeNumber } from '../parsers.ts';
import { withDefault } from '../variable.ts';

/** How long what is no money is kept. */
export const retention = {
  keepWebhooksDays: withDefault({
    name: 'KEEP_WEBHOOKS_DAYS',
    about: 'Days for which events, deliveries, attempts and alert e-mail are kept. Undelivered events stay longer.',
    example: '90',
    fallback: '90',
    schema: wholeNumber(7, 3_660),
  }),
  keepUserAgentsDays: withDefault({
    name: 'KEEP_USER_AGENTS_DAYS',
    about: 'Days after which User-Agents as they were sent are replaced by `removed`; the name an agent is counted under stays.',
    example: '90',
    fallback: '90',
    schema: wholeNumber(8, 3_660),
  }),
  keepSignInsDays: withDefault({
    name: 'KEEP_SIGN_INS_DAYS',
    about: 'Days for which keys, clients and tokens are kept after they were revoked or ended, as hashes.',
    example: '90',
    fallback: '90',
    schema: wholeNumber(1, 3_660),
  }),
};
