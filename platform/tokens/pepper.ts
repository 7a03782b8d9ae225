import { macOf } from './mac.ts';

/** The secret that credentials are hashed under and, while it is being rotated, the one before. Check values give neither away. */
export interface Pepper {
  readonly current: string;
  readonly currentId: string;
  readonly previous: string | null;
  readonly previousId: string | null;
}

/** What a credential is stored under and looked up by. */
export interface CredentialHash {
  /** Under the present pepper: what is stored. */
  readonly current: Buffer;
  /** Check value of the present pepper, stored beside the hash. */
  readonly pepperId: string;
  /** Under the pepper before, where it may still be stored; null when none is configured. */
  readonly previous: Buffer | null;
}

/** The peppers of a configuration. */
export function pepperOf(config: { readonly apiKeyPepper: string; readonly apiKeyPepperPrevious?: string | undefined }): Pepper {
  const { apiKeyPepper: current, apiKeyPepperPrevious: previous = null } = config;
  return { current, currentId: pepperId(current), previous, previousId: previous === null ? null : pepperId(previous) };
}

/** HMAC-SHA256 of a credential under each pepper: the database holds the hash, never the secret nor the pepper. */
export function hashCredential(pepper: Pepper, token: string): CredentialHash {
  const { current, currentId, previous } = pepper;
  return {
    current: macOf(current, token).digest(),
    pepperId: currentId,
    previous: previous === null ? null : macOf(previous, token).digest(),
  };
}

/** Every hash a credential may be stored under, the present one first. */
export function hashesOf({ current, previous }: CredentialHash): readonly Buffer[] {
  return previous === null ? [current] : [current, previous];
}

/** 32 bits of an HMAC: enough to tell two peppers apart, too little to guess 32 bytes by. */
function pepperId(pepper: string): string {
  return macOf(pepper, 'pepper id').digest('hex').slice(0, 8);
}
