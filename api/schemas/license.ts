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

/** Body of POST /_svc/license/proof. */
export const LicenseProofBody = z
  .object(
    {
      signInWithX: z
        .string('must be text')
        .min(1, 'must not be empty')
        .max(16_384, 'is too long')
        .meta({ description: 'The header SIGN-IN-WITH-X, as received.' }),
      resource,
      slug: z.string('must be text').min(1, 'must not be empty'),
      kind: kind.default('read'),
    },
    'must be an object',
  )
  .meta({ id: 'LicenseProofBody' });

/** Success of POST /_svc/license/proof. */
export const LicenseProofResult = z
  .object({
    entitled: z.boolean(),
    license: z.exactOptional(z.string()).meta({ description: 'A short licence for the page, if the wallet is entitled.' }),
    expiresAt: z.exactOptional(z.int()).meta({ description: 'When that ends, in epoch milliseconds.' }),
    error: z.exactOptional(z.string()).meta({
      description:
        'Why the proof is invalid. Absent for a valid proof by a wallet that holds nothing: then make the ordinary offer.',
    }),
  })
  .meta({ id: 'LicenseProofResult' });

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
