import { z } from 'zod';
import { json } from './parsers.ts';

/** A key itself, or where it is kept: `aws-kms:<ARN>`, `gcp-kms:<resource name of a key version>`. */
export type RelayerKeyName = `0x${string}` | `aws-kms:${string}` | `gcp-kms:${string}`;
/** Keys of the relayer, by CAIP-2 network; each key has a queue of its own. */
export type RelayerKeys = Readonly<Record<string, readonly RelayerKeyName[]>>;

const AWS = /^arn:aws[a-z-]*:kms:[a-z0-9-]+:\d{12}:key\/[\w-]+$/;
const GCP = /^projects\/[^/]+\/locations\/[^/]+\/keyRings\/[^/]+\/cryptoKeys\/[^/]+\/cryptoKeyVersions\/\d+$/;
const WANTED = 'must be a 0x-prefixed 32-byte key, aws-kms:<ARN of a key>, or gcp-kms:<name of a key version>';
const relayerKey = z.union(
  [
    z.templateLiteral(['0x', z.string().regex(/^[0-9a-fA-F]{64}$/)]),
    z.templateLiteral(['aws-kms:', z.string().regex(AWS)]),
    z.templateLiteral(['gcp-kms:', z.string().regex(GCP)]),
  ],
  WANTED,
);

/** `{"eip155:84532": ["0x…"]}`; a key may stand once only, since two queues with one key would share a nonce. */
export const relayerKeys: z.ZodType<RelayerKeys, string> = json(
  z
    .record(z.string(), z.array(relayerKey, 'must be a list of keys').min(1, 'needs at least one key'), 'must be an object')
    .refine(
      (networks) => Object.values(networks).every((keys) => new Set(keys.map((key) => key.toLowerCase())).size === keys.length),
      'a key stands twice for one network',
    ),
);

/** One Ed25519 private key (RFC 8037) of the licence issuer. */
export interface LicenceKey {
  readonly kty: 'OKP';
  readonly crv: 'Ed25519';
  readonly x: string;
  readonly d: string;
  readonly kid?: string;
}

const base64url32 = z.string('must be base64url').regex(/^[A-Za-z0-9_-]{43}$/, 'must be 32 bytes in base64url');
const licenceKey = z.object(
  {
    kty: z.literal('OKP', 'must be OKP'),
    crv: z.literal('Ed25519', 'must be Ed25519'),
    x: base64url32,
    d: base64url32,
    kid: z.exactOptional(z.string()),
  },
  'must be a JWK',
);

/** A private JWK set, newest first: the first signs, all stay published. */
export const licenceKeys: z.ZodType<readonly LicenceKey[], string> = json(
  z
    .object({ keys: z.array(licenceKey, 'must be a list').min(1, 'needs at least one key') }, 'must be a JWK set')
    .transform(({ keys }): readonly LicenceKey[] => keys),
);
