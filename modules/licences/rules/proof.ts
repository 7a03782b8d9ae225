/** Proofs that a token is shown by its holder: `<ts>.<nonce>.<sig>`. */

/** How far the time of a proof may be from ours, either way, in seconds. */
export const PROOF_SKEW_SECONDS = 120;

/** A proof taken apart. */
export interface HolderProof {
  /** Unix seconds. */
  readonly tsSeconds: number;
  readonly nonce: string;
  readonly signature: `0x${string}`;
}

/** What a proof is about. */
export interface ProofSubject {
  /** Audience of the token. */
  readonly aud: string;
  readonly jti: string;
  readonly slug: string;
}

/** Reads a proof whose time is within 120 s of now; null for any other. */
export function parseProof(text: string, nowSeconds: number): HolderProof | null {
  if (text.length > 8_192) return null;
  const [ts = '', nonce = '', signature = '', ...rest] = text.split('.');
  if (rest.length > 0 || !/^\d{1,12}$/.test(ts) || !/^[A-Za-z0-9_-]{8,64}$/.test(nonce)) return null;
  if (!/^0x(?:[0-9a-fA-F]{2}){1,4000}$/.test(signature)) return null;
  const tsSeconds = Number(ts);
  if (Math.abs(tsSeconds - nowSeconds) > PROOF_SKEW_SECONDS) return null;
  return { tsSeconds, nonce, signature: signature as `0x${string}` };
}

/** The text that the holder signs as a personal message (EIP-191). */
export function proofMessage(subject: ProofSubject, proof: Pick<HolderProof, 'tsSeconds' | 'nonce'>): string {
  return ['svc licence proof 1', subject.aud, subject.jti, subject.slug, proof.tsSeconds, proof.nonce].join('\n');
}
