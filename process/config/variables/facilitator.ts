import { publicUrl, text } from '../parsers.ts';
import { optional } from '../variable.ts';

/** Another's facilitator, for networks of NETWORKS with `"settler":"facilitator"`. */
export const facilitator = {
  facilitatorUrl: optional({
    name: 'FACILITATOR_URL',
    about: 'The x402 v2 facilitator (its /supported and /settle stand below it) for networks whose settler is `facilitator`.',
    example: 'https://facilitator.example',
    schema: publicUrl,
  }),
  facilitatorToken: optional({
    name: 'FACILITATOR_TOKEN',
    about: 'Sent to the facilitator as a bearer token. Not set: none is sent.',
    example: 'token-of-the-facilitator…',
    fromFile: true,
    schema: text,
  }),
  facilitatorStatusUrl: optional({
    name: 'FACILITATOR_STATUS_URL',
    about: 'Status URL of a facilitator that answers with its own ids; `{id}` is replaced. Not set: such ids prove nothing.',
    example: 'https://facilitator.example/transfers/{id}',
    schema: text.regex(/^https?:\/\/[^\s{}]+\{id\}[^\s{}]*$/, 'must be an http or https URL with {id} in it'),
  }),
};
