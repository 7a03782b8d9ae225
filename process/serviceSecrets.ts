import { generateKeyPairSync, randomBytes } from 'node:crypto';
import type { Hex } from '../modules/kernel/x402/payload.ts';

/** The secrets the service's processes share. */
export interface ServiceSecrets {
  readonly apiKeyPepper: string;
  readonly quoteTokenSecret: string;
  /** 32 bytes in base64url. */
  readonly secretsKey: string;
  readonly licenceKey: { readonly kty: 'OKP'; readonly crv: 'Ed25519'; readonly x: string; readonly d: string };
  readonly relayerPrivateKey: Hex;
}

/** New secrets for a service. Every call gives others. */
export function createServiceSecrets(): ServiceSecrets {
  const jwk = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' });
  return {
    apiKeyPepper: randomBytes(48).toString('base64url'),
    quoteTokenSecret: randomBytes(48).toString('base64url'),
    secretsKey: randomBytes(32).toString('base64url'),
    licenceKey: { kty: 'OKP', crv: 'Ed25519', x: String(jwk.x), d: String(jwk.d) },
    relayerPrivateKey: newPrivateKey(),
  };
}

/** A secp256k1 key; a random number of 32 bytes is none once in 2^127 times. */
export function newPrivateKey(): Hex {
  return `0x${randomBytes(32).toString('hex')}`;
}
