import { z } from 'zod';
import { NEXT_ACTIONS } from '../../modules/kernel/errors.ts';

/** Schemas that several endpoints share; each stands in the API description under its id. */

/** An http(s) URL; who may name it is decided after its shape. */
export const resource = z.string('must be a URL').min(1, 'must be a URL').max(2048, 'is too long').meta({ format: 'uri' });

/** `read` or `citation`. */
export const kind = z.enum(['read', 'citation'], 'must be read or citation');

/** A whole amount of micro-USDC. */
export const micro = z.int('must be a whole number of micro-USDC').min(0, 'must not be negative');

/** A 20-byte address. */
export const address = z.string('must be an address').regex(/^0x[0-9a-fA-F]{40}$/, 'must be 0x and 40 hex digits');

const text = z.string('must be text');

/** Telemetry of the publisher's own classifier; never used for authorization. */
export const ObservedAgent = z
  .object(
    {
      ua: z.exactOptional(text),
      classifyReason: z.exactOptional(text),
      verified: z.exactOptional(z.boolean('must be true or false')),
      verifiedAgent: z.exactOptional(text),
      sigInvalid: z.exactOptional(z.boolean('must be true or false')),
    },
    'must be an object',
  )
  .meta({ id: 'ObservedAgent', description: "Telemetry from the publisher's own classifier; never used for authorization." });

/** What a caller can do about a refusal; further members by its action. */
export const NextStep = z.looseObject({ action: z.enum(NEXT_ACTIONS) }).meta({
  id: 'NextStep',
  description:
    'What to do next. `fund`: the wallet `address` needs `needsMicro` of `asset` on `network`; then send the same payment again. `wait`: `seconds`, ' +
    'then send the same again. `fix_clock`: compare `serverTime` with yours, then sign again. `fix_domain`: sign again by this EIP-712 `domain`. ' +
    '`sign_again`: by the present offer.',
});
const next = z.exactOptional(NextStep);

/** `{error, next}`. */
export const ErrorBody = z.object({ error: z.string(), next }).meta({ id: 'Error' });

/** `{error, next, extensions}`: who may come in, and what a wallet may sign to (x402 `sign-in-with-x`). */
export const AuthenticateError = z
  .object({ error: z.string(), next, extensions: z.exactOptional(z.looseObject({})) })
  .meta({ id: 'AuthenticateError' });

/** `{error, next, upgrade: true}`. */
export const PlanGateError = z.object({ error: z.string(), next, upgrade: z.literal(true) }).meta({ id: 'PlanGateError' });

/** Text without control characters, in words that every reader of a JSON schema knows. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not come in
export const NO_CONTROLS = /^[^\u0000-\u001f\u007f-\u009f]+$/;

/** What answers to gates say of the site's settings. */
export const SiteVersionHeaders = z.object({
  'X-SVC-Site-Version': z
    .string()
    .meta({ description: "The site's version: ask for enforce-config again when it is above the `version` of your copy." }),
});
