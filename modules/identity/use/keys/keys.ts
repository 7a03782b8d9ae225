import { hash, randomBytes, randomUUID } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Database, Transactional } from '../../../../db/database.ts';
import { isTransientError } from '../../../../db/outage.ts';
import { gathered } from '../../../../platform/pacing/gather.ts';
import { macOf } from '../../../../platform/tokens/mac.ts';
import type { CredentialHash, Pepper } from '../../../../platform/tokens/pepper.ts';
import { hashCredential, hashesOf } from '../../../../platform/tokens/pepper.ts';
import type { KeyState, Scope } from '../../../kernel/access/key.ts';
import { SCOPES } from '../../../kernel/access/key.ts';
import { ServiceError } from '../../../kernel/errors.ts';
import { hasControlCharacter } from '../../../kernel/hosts/host.ts';
import type { KeyAtEpoch } from '../../store/keys.ts';
import { insertKey, listKeysByHash, markKeyRevoked } from '../../store/keys.ts';
import type { Rehash } from './rehash.ts';

/** What issuing credentials needs. */
export interface CredentialDeps {
  readonly database: Transactional;
  readonly pepper: Pepper;
}

/** Prefixes of publisher keys; a test key's settlements are mock and never count as money. */
export type KeyPrefix = 'svc_live_' | 'svc_test_';

/** Most active keys of one site. */
export const MAX_ACTIVE_KEYS = 20;
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const SECRET_CHARS = 43;
const CHECKSUM_CHARS = 6;

/** A fresh credential: prefix, 32 random bytes in base62, and a checksum that catches typing errors and guesses. */
export function generateToken(prefix: string): string {
  const secret = base62(BigInt(`0x${randomBytes(32).toString('hex')}`), SECRET_CHARS);
  return `${prefix}${secret}${checksum(`${prefix}${secret}`)}`;
}

/** True for text that has a credential's prefix, alphabet, length and checksum; says nothing about whether it was issued. */
export function isWellFormedToken(token: string, prefix: string): boolean {
  if (!token.startsWith(prefix) || token.length !== prefix.length + SECRET_CHARS + CHECKSUM_CHARS) return false;
  const body = token.slice(0, -CHECKSUM_CHARS);
  return /^[0-9A-Za-z]+$/.test(token.slice(prefix.length)) && checksum(body) === token.slice(-CHECKSUM_CHARS);
}

/** The prefix of a publisher key that could have been issued, or null. Test keys only where they are enabled. */
export function publisherPrefix(token: string, testKeysEnabled: boolean): KeyPrefix | null {
  if (isWellFormedToken(token, 'svc_live_')) return 'svc_live_';
  return testKeysEnabled && isWellFormedToken(token, 'svc_test_') ? 'svc_test_' : null;
}

const NAMED_TOKENS = 20_000;
/** What well-formed keys are looked up by, under a plain hash of each, so that no key stays in memory. */
const named = new LRUCache<string, CredentialHash>({ max: NAMED_TOKENS });

/** What a publisher key is looked up by, or null when none of this form could have been issued; again: from memory. */
export function publisherHash(pepper: Pepper, token: string, testKeysEnabled: boolean): CredentialHash | null {
  const name = hash('sha256', `${pepper.current} ${pepper.previous} ${testKeysEnabled} ${token}`, 'base64');
  const known = named.get(name);
  if (known) return known;
  if (!publisherPrefix(token, testKeysEnabled)) return null;
  const made = hashCredential(pepper, token);
  named.set(name, made);
  return made;
}

/** Calls at one time share a query, which begins after all of them. */
const findState: (database: Database, hash: CredentialHash) => Promise<FoundKey | null> = gathered(listFoundKeys, {
  limit: 100,
  concurrency: 2,
  isOutage: isTransientError,
  same: ({ current, previous }) => `${current.toString('latin1')} ${previous?.toString('latin1')}`,
});

interface FoundKey extends KeyAtEpoch {
  /** The hash it stands under. */
  readonly found: Buffer;
}

/** Asks for every key under each of its hashes, in one statement. */
async function listFoundKeys(database: Database, hashes: readonly CredentialHash[]): Promise<readonly (FoundKey | null)[]> {
  const asked = hashes.flatMap(hashesOf);
  const states = await listKeysByHash(database, asked);
  let next = 0;
  return hashes.map((hash) => {
    const places = hashesOf(hash).map((found) => ({ key: states[next++] ?? null, found }));
    const place = places.find(({ key }) => key !== null);
    return place?.key ? { ...place.key, found: place.found } : null;
  });
}

/**
 * The state of a publisher key, read from Postgres in this call (safety 24); null when it was never issued. Throws
 * database_unavailable.
 */
export async function findKey(
  deps: CredentialDeps & {
    readonly database: Database;
    readonly testKeysEnabled: boolean;
    readonly rehash?: Pick<Rehash, 'note'>;
  },
  token: string,
): Promise<KeyState | null> {
  const keyHash = publisherHash(deps.pepper, token, deps.testKeysEnabled);
  return keyHash && findKeyByHash(deps, keyHash);
}

/** `findKey` by what the key is looked up by. One that stands under the previous pepper is moved to the present one meanwhile. */
export async function findKeyByHash(
  deps: { readonly database: Database; readonly rehash?: Pick<Rehash, 'note'> | undefined },
  keyHash: CredentialHash,
): Promise<KeyState | null> {
  return (await findKeyAtEpoch(deps, keyHash))?.state ?? null;
}

/** The same with the access epoch of its site, read together. */
export async function findKeyAtEpoch(
  deps: { readonly database: Database; readonly rehash?: Pick<Rehash, 'note'> | undefined },
  keyHash: CredentialHash,
): Promise<KeyAtEpoch | null> {
  const key = await findState(deps.database, keyHash);
  if (key) deps.rehash?.note('api_key_hash', key.found, keyHash);
  return key;
}

/** Life of a key that may add hosts: 30 days. */
const HOST_KEY_LIFE_MS = 30 * 86_400_000;

/** A key just minted; the token is shown in this answer and never again. */
export interface MintedKey {
  readonly keyId: string;
  readonly token: string;
  /** When it ends; null: never. */
  readonly expiresAt: Date | null;
}

/**
 * Issues a publisher key; the token is returned this once and cannot be read again. `value` fixes the whole token, for
 * installations whose keys must be known beforehand. With `domain.manage` it expires within 30 days, whatever was asked:
 * `expiresAt` is what holds, null for never. Throws invalid_parameter, and conflict at 20 active keys.
 */
export async function mintKey(
  deps: { readonly database: Transactional; readonly pepper: Pepper },
  request: {
    readonly tenantId: string;
    readonly name: string;
    readonly scopes: readonly Scope[];
    readonly expiresAtMs?: number;
    readonly prefix?: KeyPrefix;
    readonly value?: string;
  },
): Promise<MintedKey> {
  const prefix = request.prefix ?? 'svc_live_';
  const token = request.value ?? generateToken(prefix);
  if (!isWellFormedToken(token, prefix)) throw new ServiceError('invalid_parameter', 'the value is not a well-formed key');
  if (request.name === '' || request.name.length > 100 || hasControlCharacter(request.name)) {
    throw new ServiceError('invalid_parameter', 'name must be 1 to 100 characters', { parameter: 'name' });
  }
  const scopes = SCOPES.filter((scope) => request.scopes.includes(scope));
  if (scopes.length === 0 || scopes.length !== new Set(request.scopes).size) {
    throw new ServiceError('invalid_parameter', 'scopes must name at least one scope, and only known ones', {
      parameter: 'scopes',
    });
  }
  const keyId = randomUUID();
  const { tenantId, name, expiresAtMs } = request;
  const expiresAt = expiryOf(scopes, expiresAtMs);
  const { current: hash, pepperId } = hashCredential(deps.pepper, token);
  const key = { tenantId, keyId, name, prefix, last4: token.slice(-4), hash, pepperId, scopes, expiresAt };
  if (!(await insertKey(deps.database, key, MAX_ACTIVE_KEYS))) {
    throw new ServiceError('conflict', `a site has at most ${MAX_ACTIVE_KEYS} active keys`);
  }
  return { keyId, token, expiresAt };
}

/**
 * Issues the WordPress connect key: `tenant.read` and `domain.manage`, for 30 days.
 * `domain.manage` leaves it the moment a host of the site is verified. Throws what `mintKey` throws; every call issues another one.
 */
export function mintConnectKey(
  deps: { readonly database: Transactional; readonly pepper: Pepper; readonly clock: () => number },
  request: { readonly tenantId: string; readonly name: string },
): Promise<MintedKey> {
  return mintKey(deps, { ...request, scopes: ['tenant.read', 'domain.manage'], expiresAtMs: deps.clock() + HOST_KEY_LIFE_MS });
}

/** A key that may prove hosts lives 30 days at most. */
function expiryOf(scopes: readonly Scope[], askedMs: number | undefined): Date | null {
  const latestMs = scopes.includes('domain.manage') ? Date.now() + HOST_KEY_LIFE_MS : undefined;
  const expiresAtMs = askedMs !== undefined && latestMs !== undefined ? Math.min(askedMs, latestMs) : (askedMs ?? latestMs);
  return expiresAtMs === undefined ? null : new Date(expiresAtMs);
}

/** Revokes a key: gone in the very next call (safety 24). Throws not_found; a second call changes nothing. */
export async function revokeKey(
  deps: { readonly database: Transactional },
  key: { readonly tenantId: string; readonly keyId: string },
): Promise<void> {
  const found = await markKeyRevoked(deps.database, key, new Date());
  if (!found) throw new ServiceError('not_found', 'this site has no such key');
}

function checksum(text: string): string {
  // Six base62 digits of an unkeyed HMAC; it protects against typing errors, not against anyone.
  const digest = macOf('svc-key-checksum', text).digest('hex').slice(0, 12);
  return base62(BigInt(`0x${digest}`) % 62n ** BigInt(CHECKSUM_CHARS), CHECKSUM_CHARS);
}

function base62(value: bigint, length: number): string {
  let text = '';
  for (let rest = value; rest > 0n; rest /= 62n) text = `${ALPHABET[Number(rest % 62n)]}${text}`;
  return text.padStart(length, '0');
}
