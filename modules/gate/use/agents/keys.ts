import { hash, KeyObject, verify } from 'node:crypto';
import type { Verifier } from 'http-message-sig';
import { webcrypto } from 'http-message-sig';

/** A public key as a key set holds it. */
export type PublicJwk =
  | { readonly kty: 'OKP'; readonly crv: 'Ed25519'; readonly x: string }
  | { readonly kty: 'RSA'; readonly e: string; readonly n: string };

/** A key of an agent, ready to check signatures with. */
export interface AgentKey {
  readonly jwk: PublicJwk;
  readonly verifier: Verifier;
}

/** Keys of one set; a set with more is no directory of an agent. */
export const MOST_KEYS = 50;
const BASE64URL = /^[A-Za-z0-9_-]+$/;
/** Of 2,048 to 4,096 bits: a longer modulus makes every check dear. */
const MODULUS_CHARS = { least: 342, most: 683 };
const MOST_EXPONENT_CHARS = 6;

/**
 * The keys of a key set (RFC 7517) by their thumbprints (RFC 7638, 8037), which are reckoned here and never taken from it; null for what is
 * no set, or has more than 50 keys. Left out: keys of other algorithms, for other uses, private ones, those whose time is over or not
 * yet come, and with `isDirectory` those that are labelled otherwise than by their thumbprint. `now` in epoch seconds.
 */
export function readKeySet(
  document: unknown,
  { isDirectory, now }: { readonly isDirectory: boolean; readonly now: number },
): ReadonlyMap<string, PublicJwk> | null {
  const keys = typeof document === 'object' && document !== null ? (document as { keys?: unknown }).keys : undefined;
  if (!Array.isArray(keys) || keys.length > MOST_KEYS) return null;
  const found = new Map<string, PublicJwk>();
  for (const entry of keys as readonly unknown[]) {
    const members = typeof entry === 'object' && entry !== null ? (entry as Record<string, unknown>) : {};
    const jwk = isUsable(members, now) ? publicPart(members) : null;
    const keyid = jwk && thumbprintOf(jwk);
    if (jwk && keyid && (!isDirectory || members['kid'] === undefined || members['kid'] === keyid)) found.set(keyid, jwk);
  }
  return found;
}

function isUsable({ use, d, nbf, exp }: Record<string, unknown>, now: number): boolean {
  if (d !== undefined || (use !== undefined && use !== 'sig')) return false;
  return !(typeof nbf === 'number' && nbf > now) && !(typeof exp === 'number' && exp <= now);
}

function publicPart({ kty, crv, x, e, n, alg }: Record<string, unknown>): PublicJwk | null {
  if (kty === 'OKP' && crv === 'Ed25519' && isBase64Url(x, 43, 43)) return { kty, crv, x };
  const isPss = alg === undefined || alg === 'PS512' || alg === 'rsa-pss-sha512';
  const isModulus = isBase64Url(n, MODULUS_CHARS.least, MODULUS_CHARS.most);
  return kty === 'RSA' && isPss && isModulus && isBase64Url(e, 1, MOST_EXPONENT_CHARS) ? { kty, e, n } : null;
}

function isBase64Url(value: unknown, least: number, most: number): value is string {
  return typeof value === 'string' && value.length >= least && value.length <= most && BASE64URL.test(value);
}

/** The thumbprint of a key: SHA-256 of its members in their one order, base64url. */
export function thumbprintOf(jwk: PublicJwk): string {
  const members = jwk.kty === 'OKP' ? { crv: jwk.crv, kty: jwk.kty, x: jwk.x } : { e: jwk.e, kty: jwk.kty, n: jwk.n };
  return hash('sha256', JSON.stringify(members), 'base64url');
}

/** Makes a key ready; rejects for one that is no point of the curve, or no modulus. */
export async function importAgentKey(jwk: PublicJwk): Promise<AgentKey> {
  const algorithm = jwk.kty === 'OKP' ? { name: 'Ed25519' } : { name: 'RSA-PSS', hash: 'SHA-512' };
  const key = await crypto.subtle.importKey('jwk', { ...jwk }, algorithm, true, ['verify']);
  return { jwk, verifier: jwk.kty === 'OKP' ? checkedHere(KeyObject.from(key)) : webcrypto.verifier(key) };
}

/** Ed25519 in the calling thread: its check (70 µs) costs less than the way to another one. RSA, with keys that are dearer, goes that way. */
function checkedHere(key: KeyObject): Verifier {
  return { algorithm: 'ed25519', verify: (data, signature) => verify(null, data, key, signature) };
}
