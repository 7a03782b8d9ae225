import { createHash } from 'node:crypto';
import type { LicenceSigner } from '../../../platform/tokens/jws.ts';
import type { ReReadFacts } from '../../kernel/licence/licence.ts';
import { reReadClaims } from '../../kernel/licence/licence.ts';

export type { LicenceSigner };

/**
 * The re-read licence of a settled read as a compact JWS, signed by the key that was fixed with the other facts (safety 13):
 * the same facts give the same bytes. Throws signing_key_unavailable when that key is not at hand.
 */
export function mintReReadLicence(signer: LicenceSigner, facts: ReReadFacts): Promise<string> {
  return signer.sign(facts.kid, reReadClaims(facts, sha256));
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}
