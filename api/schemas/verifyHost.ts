import { z } from 'zod';
import { CHALLENGE_METHODS } from '../../modules/hosts/rules/challenge.ts';

/** A label of a host name: up to 63 letters, digits and hyphens, no hyphen at its ends. */
const LABEL = '[A-Za-z0-9\\u0080-\\uffff]([A-Za-z0-9\\u0080-\\uffff-]{0,61}[A-Za-z0-9\\u0080-\\uffff])?';
/** A host name; its exact rules are the service's, so that each refusal has a sentence of its own. */
const host = z
  .string('must be text')
  .min(3, 'must have 3 to 253 characters')
  .max(253, 'must have 3 to 253 characters')
  .meta({
    description: 'A dotted host name, international ones included: labels of letters, digits and hyphens; case does not matter.',
    pattern: `^(${LABEL}\\.)+${LABEL}$`,
  });

/** Body of POST /_svc/verify-host. */
export const VerifyHostOpenBody = z
  .object(
    { host, method: z.enum(CHALLENGE_METHODS, 'must be meta-tag, well-known or dns-txt').default('well-known') },
    'must be an object',
  )
  .meta({ id: 'VerifyHostOpenBody' });

/** Body of POST /_svc/verify-host/check. */
export const VerifyHostCheckBody = z.object({ host }, 'must be an object').meta({ id: 'VerifyHostCheckBody' });

/** A proof task for a host. */
export const VerifyHostChallenge = z
  .object({
    host: z.string(),
    token: z.string(),
    method: z.enum(CHALLENGE_METHODS),
    present: z.exactOptional(z.record(z.string(), z.union([z.string(), z.number()]))),
    verifiedAt: z.string().nullable(),
    routingVerifiedAt: z.string().nullable(),
    capability: z.enum(['code', 'prefer_code', 'dns_only', 'locked', 'unknown']),
    codeArtifact: z.enum(['npm', 'wordpress_plugin']).nullable(),
  })
  .meta({ id: 'VerifyHostChallenge' });

/** 201 of POST /_svc/verify-host. */
export const VerifyHostOpened = z.object({ challenge: VerifyHostChallenge }).meta({ id: 'VerifyHostOpened' });

/** 409 of POST /_svc/verify-host. */
export const VerifyHostAlreadyAdded = z
  .object({ error: z.string(), routingVerified: z.boolean() })
  .meta({ id: 'VerifyHostAlreadyAdded' });

/** 200 of GET /_svc/verify-host. */
export const VerifyHostList = z.object({ challenges: z.array(VerifyHostChallenge) }).meta({ id: 'VerifyHostList' });

/** 200 of POST /_svc/verify-host/check. */
export const VerifyHostVerified = z.object({ verified: z.literal(true), host: z.string() }).meta({ id: 'VerifyHostVerified' });

/** 409 of POST /_svc/verify-host/check. */
export const VerifyHostNotVerified = z
  .object({ verified: z.literal(false), reason: z.string() })
  .meta({ id: 'VerifyHostNotVerified' });
