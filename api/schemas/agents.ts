import { z } from 'zod';
import { resource } from './shared.ts';

const MOST_FIELDS = 64;
const MOST_FIELD_CHARS = 8_192;

/** Body of POST /_svc/agents/verify. */
export const AgentsVerifyBody = z
  .object(
    {
      request: z.object(
        {
          method: z.string('must be a method').regex(/^[A-Z]{1,20}$/, 'must be a method in capitals'),
          url: resource.meta({ description: 'The URL as requested; its host must belong to the site of the key.' }),
          headers: z
            .record(
              z.string().regex(/^[a-z0-9!#$%&'*+.^_`|~-]{1,100}$/, 'names are in lower case'),
              z.string('must be text').max(MOST_FIELD_CHARS, 'is too long'),
            )
            .refine((fields) => Object.keys(fields).length <= MOST_FIELDS, `holds at most ${MOST_FIELDS} fields`)
            .meta({
              description:
                '`signature`, `signature-input`, `signature-agent`, and every field that the signature covers, by names in lower case; several fields of one name joined by `, `.',
            }),
        },
        'must be a request',
      ),
    },
    'must be an object',
  )
  .meta({ id: 'AgentsVerifyRequest' });

const seconds = z.int().meta({ description: 'Epoch seconds.' });
const ownWord = z.string().nullable().meta({ description: 'As stated by the agent; nobody vouches for it.' });

const Verified = z.object({
  outcome: z.literal('verified'),
  agent: z.object({
    url: z.string().meta({ description: 'Where its keys are published.' }),
    type: z.enum(['directory', 'jwks_uri', 'cimd']),
    host: z.string(),
    keyid: z.string().meta({ description: 'Thumbprint of the key (RFC 7638).' }),
    label: z.string(),
    covered: z.array(z.string()),
    created: seconds,
    expires: seconds,
    operator: ownWord,
    purpose: ownWord,
    key: z
      .record(z.string(), z.string())
      .meta({ description: 'The public key, for verifying without a call for `cacheSeconds`.' }),
  }),
  observed: z
    .object({ verified: z.literal(true), verifiedAgent: z.exactOptional(z.string()) })
    .meta({ description: 'Ready for `agent` of observe and verify.' }),
  cacheSeconds: z.int(),
});

const Invalid = z.object({
  outcome: z.literal('invalid'),
  reason: z.enum([
    'malformed',
    'parameter_missing',
    'not_covered',
    'expired',
    'from_the_future',
    'lives_too_long',
    'algorithm',
    'test_key',
    'bad_signature',
  ]),
  observed: z.object({ sigInvalid: z.literal(true) }),
});

const Unverified = z.object({
  outcome: z.literal('unverified'),
  reason: z.enum([
    'not_signed',
    'too_many_signatures',
    'no_agent',
    'agent_unsupported',
    'agent_refused',
    'field_missing',
    'component_unsupported',
    'directory_pending',
    'directory_unreachable',
    'directory_invalid',
    'key_unknown',
    'busy',
  ]),
  retryAfter: z.exactOptional(z.int()).meta({ description: 'Seconds after which the answer may differ.' }),
  observed: z.object({}),
});

/** Success of POST /_svc/agents/verify. */
export const AgentsVerifyAnswer = z.discriminatedUnion('outcome', [Verified, Invalid, Unverified]).meta({
  id: 'AgentsVerifyAnswer',
  description: 'Only `invalid` speaks against the caller: its claim was checked and is false.',
});
