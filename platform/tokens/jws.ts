import type { KeyObject } from 'node:crypto';
import { createPublicKey, hash, verify } from 'node:crypto';
import { CompactSign, calculateJwkThumbprint, importJWK } from 'jose';
import { LRUCache } from 'lru-cache';
import { ServiceError } from '../../modules/kernel/errors.ts';

/** A key object as jose imports it; the same class in every runtime. */
type ImportedKey = Awaited<ReturnType<typeof importJWK>>;

/** One Ed25519 private key of the licence issuer (RFC 8037). */
export interface PrivateJwk {
  readonly kty: 'OKP';
  readonly crv: 'Ed25519';
  readonly x: string;
  readonly d: string;
}

/** The public half, as the key set shows it (RFC 7517). */
export interface PublicJwk {
  readonly kty: 'OKP';
  readonly crv: 'Ed25519';
  readonly x: string;
  readonly kid: string;
  readonly use: 'sig';
  readonly alg: 'EdDSA';
}

/** When a published key signs; one that is retired neither signs nor verifies any more. */
export interface KeySchedule {
  readonly kid: string;
  readonly publicJwk: Readonly<Record<string, unknown>>;
  readonly activeFromMs: number;
  /** Null: not retired. */
  readonly retiredAtMs: number | null;
}

/** How the header of a signed text names its key and its content. */
export interface SignedAs {
  /** A DID URL. */
  readonly kid: string;
  readonly typ?: string;
}

/** What minting needs: the key that signs now, and a signature by the key that was chosen for a licence. */
export interface LicenceSigner {
  /** The key that signs now. Throws signing_key_unavailable (503) when there is none. */
  current(): { readonly kid: string };
  /**
   * A compact JWS of the claims; the same claims and key give the same bytes. `named` is what the header calls the key and the
   * content where that is no licence: with a name of its own it never passes for one. Throws signing_key_unavailable.
   */
  sign(kid: string, claims: object, named?: SignedAs): Promise<string>;
}

/** Longest token that is looked at, in characters (size before parse). */
export const MAX_JWS_CHARS = 4096;
const HEADER_MEMBERS = new Set(['alg', 'typ', 'kid']);
const VERIFIED_TOKENS = 50_000;
const SIGNATURE_BYTES = 64;
const UTF8 = new TextDecoder('utf-8', { fatal: true });

/** Signs and verifies licences: EdDSA only, keys by the thumbprint in our own set only (RFC 7515, 7638, 8037, 8725). */
export class Keyring implements LicenceSigner {
  /** Told of every signature. */
  onSign: (() => void) | null = null;
  readonly #clock: () => number;
  readonly #private: ReadonlyMap<string, ImportedKey>;
  readonly #verified = new LRUCache<string, object>({ max: VERIFIED_TOKENS });
  #public: ReadonlyMap<string, { readonly jwk: PublicJwk; readonly key: KeyObject; readonly activeFromMs: number }> = new Map();

  constructor(privateKeys: ReadonlyMap<string, ImportedKey>, clock: () => number) {
    this.#private = privateKeys;
    this.#clock = clock;
  }

  /** Takes the published keys over; tokens verified so far are forgotten, so that a retired key ends at once. */
  async schedule(keys: readonly KeySchedule[]): Promise<void> {
    const next = new Map<string, { jwk: PublicJwk; key: KeyObject; activeFromMs: number }>();
    for (const { kid, publicJwk, activeFromMs, retiredAtMs } of keys) {
      if (retiredAtMs !== null) continue;
      const jwk: PublicJwk = { kty: 'OKP', crv: 'Ed25519', x: String(publicJwk['x']), kid, use: 'sig', alg: 'EdDSA' };
      next.set(kid, { jwk, key: this.#public.get(kid)?.key ?? publicKeyOf(jwk), activeFromMs });
    }
    const changed = next.size !== this.#public.size || [...this.#public.keys()].some((kid) => !next.has(kid));
    this.#public = next;
    if (changed) this.#verified.clear();
  }

  /** The public key set: the key that signs, the next one, and former ones. */
  jwks(): { readonly keys: readonly PublicJwk[] } {
    return { keys: [...this.#public.values()].map(({ jwk }) => jwk) };
  }

  current(): { readonly kid: string } {
    const now = this.#clock();
    let best: { kid: string; activeFromMs: number } | null = null;
    for (const [kid, { activeFromMs }] of this.#public) {
      if (!this.#private.has(kid) || activeFromMs > now) continue;
      if (!best || activeFromMs > best.activeFromMs) best = { kid, activeFromMs };
    }
    if (!best) throw new ServiceError('signing_key_unavailable', 'no key can sign licences right now', { retryAfterSeconds: 30 });
    return { kid: best.kid };
  }

  async sign(kid: string, claims: object, named: SignedAs = { kid, typ: 'JWT' }): Promise<string> {
    const key = this.#private.get(kid);
    if (!key || !this.#public.has(kid)) {
      throw new ServiceError('signing_key_unavailable', 'this licence’s signing key is not available right now', {
        retryAfterSeconds: 30,
      });
    }
    const payload = new TextEncoder().encode(JSON.stringify(claims));
    this.onSign?.();
    return new CompactSign(payload).setProtectedHeader({ alg: 'EdDSA', ...named }).sign(key);
  }

  /** The claims of a token that one of our keys signed; null for anything else. Judges no time and no audience. */
  async verify(compact: string): Promise<object | null> {
    const kid = kidOf(compact);
    return kid === null ? null : this.#claimsBy(kid, compact);
  }

  /**
   * The claims of a text that one of our keys signed under a name (a DID URL), and that name; null for anything else, licences included. Judges
   * neither the name nor what is claimed.
   */
  async verifyNamed(compact: string): Promise<{ readonly did: string; readonly claims: object } | null> {
    const [did = '', kid, ...rest] = kidOf(compact)?.split('#') ?? [];
    const claims = kid === undefined || rest.length > 0 ? null : this.#claimsBy(kid, compact);
    return claims && { did, claims };
  }

  #claimsBy(kid: string, compact: string): object | null {
    const known = this.#public.get(kid);
    if (!known) return null;
    const digest = hash('sha256', compact, 'base64');
    const cached = this.#verified.get(digest);
    if (cached) return cached;
    const claims = isSigned(compact, known.key) ? claimsOf(compact) : null;
    if (claims) this.#verified.set(digest, claims);
    return claims;
  }
}

function publicKeyOf({ kty, crv, x }: PublicJwk): KeyObject {
  return createPublicKey({ key: { kty, crv, x }, format: 'jwk' });
}

/** True when the last part is the Ed25519 signature of the rest (RFC 8037 §3.1), spelled the one canonical way. */
function isSigned(compact: string, key: KeyObject): boolean {
  const end = compact.lastIndexOf('.');
  const spelled = compact.slice(end + 1);
  const signature = Buffer.from(spelled, 'base64url');
  if (signature.length !== SIGNATURE_BYTES || signature.toString('base64url') !== spelled) return false;
  return verify(null, Buffer.from(compact.slice(0, end), 'latin1'), key, signature);
}

/** The payload of a compact JWS as an object; null for anything else. */
function claimsOf(compact: string): object | null {
  try {
    const payload = Buffer.from(compact.slice(compact.indexOf('.') + 1, compact.lastIndexOf('.')), 'base64url');
    const claims: unknown = JSON.parse(UTF8.decode(payload));
    return typeof claims === 'object' && claims !== null && !Array.isArray(claims) ? claims : null;
  } catch {
    return null;
  }
}

/** Imports private keys; each is known by its thumbprint (RFC 7638). Nothing signs before `schedule` was called. */
export async function createKeyring(options: {
  readonly privateKeys: readonly PrivateJwk[];
  readonly clock: () => number;
}): Promise<Keyring> {
  const keys = new Map<string, ImportedKey>();
  for (const jwk of options.privateKeys) keys.set(await kidOfKey(jwk), await importJWK(plain(jwk), 'EdDSA'));
  return new Keyring(keys, options.clock);
}

/** The `kid` and the public half of a private key. */
export async function publicHalf(key: PrivateJwk): Promise<{ readonly kid: string; readonly publicJwk: PublicJwk }> {
  const kid = await kidOfKey(key);
  return { kid, publicJwk: { kty: 'OKP', crv: 'Ed25519', x: key.x, kid, use: 'sig', alg: 'EdDSA' } };
}

function kidOfKey(key: PrivateJwk): Promise<string> {
  return calculateJwkThumbprint({ kty: key.kty, crv: key.crv, x: key.x });
}

function plain({ kty, crv, x, d }: PrivateJwk) {
  return { kty, crv, x, d };
}

/** The key id of a token whose header holds nothing but what we write; null otherwise, before any other work. */
function kidOf(compact: string): string | null {
  if (compact.length > MAX_JWS_CHARS) return null;
  const [header, ...rest] = compact.split('.');
  if (rest.length !== 2 || !/^[A-Za-z0-9_.-]+$/.test(compact)) return null;
  try {
    const members: unknown = JSON.parse(Buffer.from(header ?? '', 'base64url').toString('utf8'));
    if (typeof members !== 'object' || members === null || Array.isArray(members)) return null;
    const { alg, typ, kid } = members as Record<string, unknown>;
    if (!Object.keys(members).every((name) => HEADER_MEMBERS.has(name))) return null;
    return alg === 'EdDSA' && (typ === undefined || typ === 'JWT') && typeof kid === 'string' ? kid : null;
  } catch {
    return null;
  }
}
