import { z } from 'zod';
import { kind, resource } from './shared.ts';

/** Body of POST /_svc/license/check. */
export const LicenseCheckBody = z
  .object(
    {
      license: z.string('must be text').min(1, 'must not be empty'),
      resource,
      slug: z.string('must be text').min(1, 'must not be empty'),
      kind: kind.default('read'),
      proof: z.exactOptional(z.string('must be text')),
    },
    'must be an object',
  )
  .meta({ id: 'LicenseCheckBody' });

/** Success of POST /_svc/license/check. */
export const LicenseCheckResult = z.object({ entitled: z.boolean() }).meta({ id: 'LicenseCheckResult' });

/** A public key set (RFC 7517). */
export const JsonWebKeySet = z
  .object({
    keys: z.array(
      z.object({
        kty: z.literal('OKP'),
        crv: z.literal('Ed25519'),
        x: z.string(),
        kid: z.string(),
        use: z.literal('sig'),
        alg: z.literal('EdDSA'),
      }),
    ),
  })
  .meta({ id: 'JsonWebKeySet' });
