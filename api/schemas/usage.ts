import { z } from 'zod';
import { TERMS } from '../../modules/kernel/licence/period.ts';
import { MAX_COUNT, MAX_IDEMPOTENCY_CHARS } from '../../modules/storefront/rules/usage.ts';
import { resource } from './shared.ts';

const text = z.string('must be text');

/** Body of POST /_svc/usage; other members are ignored. */
export const UsageReportBody = z
  .looseObject(
    {
      idempotencyId: text
        .regex(/^[\x21-\x7e]+$/, 'must be printable ASCII without spaces')
        .max(MAX_IDEMPOTENCY_CHARS, 'is too long')
        .meta({ description: 'Your own id for the report: repeating it for the same licence repeats the same report.' }),
      licence: z.exactOptional(
        text
          .min(1, 'must not be empty')
          .max(4_096, 'is too long')
          .meta({ description: 'The re-read licence or access token that gave the right: it is the credential.' }),
      ),
      jti: z.exactOptional(
        text.max(36, 'is too long').meta({ description: 'Instead of `licence`: a licence of the calling buyer account.' }),
      ),
      resource: resource.meta({ description: 'The page that was used.', format: 'uri' }),
      use: z.enum(TERMS, `must be one of ${TERMS.join(', ')}`).meta({ description: 'What it was used for: a word of RSL 1.0.' }),
      count: z
        .int('must be a whole number')
        .min(1, 'must be at least 1')
        .max(MAX_COUNT, 'is too large')
        .default(1)
        .meta({ description: 'How many such uses.' }),
      at: z.exactOptional(
        z.int('must be epoch milliseconds').meta({
          description:
            'Time of use, epoch milliseconds, within the last seven days; the licence must have covered it then. Default: now.',
        }),
      ),
    },
    'must be an object',
  )
  .meta({ id: 'UsageReport' });

/** Success of POST /_svc/usage. */
export const UsageTaken = z.object({ ok: z.literal(true) }).meta({ id: 'UsageTaken' });
