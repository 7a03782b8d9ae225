import type { JSONWebKeySet, JWK } from 'jose';
import { createLocalJWKSet, decodeProtectedHeader, jwtVerify } from 'jose';
import { ServiceError } from '../../modules/kernel/errors.ts';
import type { Outbound } from '../outbound/outbound.ts';

/** Tells whom a token of the identity provider is about. */
export interface OidcVerifier {
  /** Exactly as `iss` has it. */
  readonly issuer: string;
  /**
   * The subject of a token that proves itself now; null for any other text. Throws identity_unavailable when the provider's keys
   * are not known and cannot be had.
   */
  subjectOf(token: string): Promise<string | null>;
}

/** Which provider, which audience, and how it is reached. */
export interface OidcOptions {
  /** Exactly as `iss` has it. */
  readonly issuer: string;
  readonly audience: string;
  readonly outbound: Pick<Outbound, 'send'>;
  /** Epoch milliseconds. */
  readonly clock: () => number;
}

/** What a provider may sign with: public keys only, so that nobody who knows the keys can sign. */
export const OIDC_ALGORITHMS = ['RS256', 'PS256', 'ES256', 'ES384', 'EdDSA'] as const;
/** Headers by which a token would choose its own key or rules (RFC 8725 §3.10). */
const REFUSED_HEADERS = ['crit', 'jku', 'jwk', 'x5u', 'x5c', 'b64'] as const;
const TYPES: readonly unknown[] = [undefined, 'jwt', 'at+jwt', 'application/at+jwt'];
const MAX_TOKEN_CHARS = 8_192;
const MAX_KEYS = 50;
const MAX_SUBJECT_CHARS = 255;
/** Keys are read again after this long, and used a day longer when the provider does not answer. */
const FRESH_MS = 600_000;
const STALE_MS = 86_400_000;
/** A key id nobody knows makes the keys be read again at most this often. */
const REFRESH_GAP_MS = 30_000;

interface Keys {
  readonly byId: ReadonlySet<string>;
  readonly find: ReturnType<typeof createLocalJWKSet>;
  readonly readAtMs: number;
}

/**
 * Makes a verifier; nothing is fetched before the first token. The provider's keys come from its discovery document (OpenID Connect
 * Discovery 1.0 §4), whose issuer must be the one asked for. A token (RFC 7519) passes with a pinned algorithm, a known `kid`, the
 * exact issuer, our audience, and `exp` and `nbf` that hold to the second.
 */
export function createOidcVerifier(options: OidcOptions): OidcVerifier {
  const book = new KeyBook(options);
  return {
    issuer: options.issuer,
    subjectOf: async (token) => {
      const kid = kidOf(token);
      return kid === null ? null : await prove(options, await book.keysWith(kid), token, kid);
    },
  };
}

/** The key id of a token worth looking at; null for what no key could save. */
function kidOf(token: string): string | null {
  if (token.length > MAX_TOKEN_CHARS) return null;
  try {
    const header = decodeProtectedHeader(token);
    const { alg, kid, typ } = header;
    if (!(OIDC_ALGORITHMS as readonly unknown[]).includes(alg)) return null;
    if (REFUSED_HEADERS.some((name) => Object.hasOwn(header, name))) return null;
    if (!TYPES.includes(typeof typ === 'string' ? typ.toLowerCase() : typ)) return null;
    return typeof kid === 'string' && kid !== '' && kid.length <= 255 ? kid : null;
  } catch {
    return null;
  }
}

async function prove(options: OidcOptions, keys: Keys, token: string, kid: string): Promise<string | null> {
  if (!keys.byId.has(kid)) return null;
  try {
    const { payload } = await jwtVerify(token, keys.find, {
      algorithms: [...OIDC_ALGORITHMS],
      issuer: options.issuer,
      audience: options.audience,
      currentDate: new Date(options.clock()),
      clockTolerance: 0,
      requiredClaims: ['exp', 'sub'],
    });
    const { sub } = payload;
    return typeof sub === 'string' && sub !== '' && sub.length <= MAX_SUBJECT_CHARS ? sub : null;
  } catch {
    return null; // forged, ended, not yet valid, or meant for others: all the same to the caller
  }
}

/** The provider's keys in memory. */
class KeyBook {
  readonly #options: OidcOptions;
  #keys: Keys | null = null;
  #askedAtMs = Number.NEGATIVE_INFINITY;
  #reading: Promise<void> | null = null;

  constructor(options: OidcOptions) {
    this.#options = options;
  }

  /** The keys, read again when they are old or do not have this id, at most every 30 seconds and once for all who wait. */
  async keysWith(kid: string): Promise<Keys> {
    const nowMs = this.#options.clock();
    const isFresh = this.#keys !== null && nowMs - this.#keys.readAtMs < FRESH_MS;
    if (!isFresh || !this.#keys?.byId.has(kid)) await this.#refresh(nowMs);
    const keys = this.#keys;
    if (keys === null || nowMs - keys.readAtMs >= STALE_MS) {
      throw new ServiceError('identity_unavailable', 'the identity provider cannot be reached right now', {
        retryAfterSeconds: 30,
      });
    }
    return keys;
  }

  async #refresh(nowMs: number): Promise<void> {
    if (this.#reading === null && nowMs - this.#askedAtMs < REFRESH_GAP_MS) return;
    this.#askedAtMs = this.#reading === null ? nowMs : this.#askedAtMs;
    this.#reading ??= this.#read(nowMs).finally(() => {
      this.#reading = null;
    });
    await this.#reading;
  }

  async #read(nowMs: number): Promise<void> {
    const { issuer } = this.#options;
    const discovery = await this.#get(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`);
    const jwksUri = discovery?.['issuer'] === issuer ? discovery['jwks_uri'] : null;
    const jwks = typeof jwksUri === 'string' ? await this.#get(jwksUri) : null;
    const keys = Array.isArray(jwks?.['keys']) ? usableKeys(jwks['keys']) : [];
    if (keys.length === 0) return; // what is known stays
    const find = createLocalJWKSet({ keys } as JSONWebKeySet);
    this.#keys = { byId: new Set(keys.map(({ kid }) => String(kid))), find, readAtMs: nowMs };
  }

  async #get(url: string): Promise<Record<string, unknown> | null> {
    const answer = await this.#options.outbound.send({ url, headers: { accept: 'application/json' } });
    if (!answer.ok || answer.status !== 200) return null;
    try {
      const body: unknown = JSON.parse(Buffer.from(answer.body).toString('utf8'));
      return typeof body === 'object' && body !== null && !Array.isArray(body) ? (body as Record<string, unknown>) : null;
    } catch {
      return null;
    }
  }
}

/** Public signing keys with an id of their own; the first of an id counts. */
function usableKeys(keys: readonly unknown[]): JWK[] {
  const byId = new Map<string, JWK>();
  for (const key of keys.slice(0, MAX_KEYS)) {
    if (typeof key !== 'object' || key === null) continue;
    const { kid, kty, use } = key as JWK;
    const isPublic = kty === 'RSA' || kty === 'EC' || kty === 'OKP';
    const isUsable = isPublic && (use === undefined || use === 'sig') && !Object.hasOwn(key, 'd');
    if (isUsable && typeof kid === 'string' && kid !== '' && !byId.has(kid)) byId.set(kid, key as JWK);
  }
  return [...byId.values()];
}
