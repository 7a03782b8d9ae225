import { randomUUID } from 'node:crypto';
import { joinTransaction } from '../../../../db/database.ts';
import type { ClientKeys } from '../../../../platform/tokens/clientAssertion.ts';
import { hashCredential, hashesOf } from '../../../../platform/tokens/pepper.ts';
import { ServiceError } from '../../../kernel/errors.ts';
import type { Address } from '../../../kernel/money/legs.ts';
import type { NewOauthClient } from '../../store/accounts.ts';
import { insertBuyerKey, insertOauthClient, revokeBuyerKeyRow, revokeOauthClientRow } from '../../store/accounts.ts';
import { insertBuyerAccount } from '../../store/keys.ts';
import type { CredentialDeps } from '../keys/keys.ts';
import { generateToken } from '../keys/keys.ts';

/**
 * Makes an OAuth client of an account: with its public keys (`private_key_jwt`), or without them with a secret, which is returned
 * this once and stored as a hash. With `isOwner` its tokens are the owner's: they change the budget, where others buy. Throws
 * invalid_parameter for keys that are private or symmetric, not_found.
 */
export async function createAccountClient(
  deps: CredentialDeps,
  request: { readonly accountId: string; readonly name?: string; readonly jwks?: ClientKeys; readonly isOwner?: boolean },
): Promise<{ readonly clientId: string; readonly clientSecret: string | null }> {
  const { client, clientSecret } = newClient(deps, request);
  const stored = await insertOauthClient(deps.database, client);
  if (!stored) throw new ServiceError('not_found', 'there is no such account');
  return { clientId: client.clientId, clientSecret };
}

function newClient(
  { pepper }: CredentialDeps,
  request: Parameters<typeof createAccountClient>[1],
): { readonly client: NewOauthClient; readonly clientSecret: string | null } {
  const { accountId, name = null, isOwner = false } = request;
  const jwks = request.jwks === undefined ? null : publicKeysOf(request.jwks);
  const clientId = randomUUID();
  const clientSecret = jwks === null ? generateToken('svc_client_') : null;
  const hash = clientSecret === null ? null : hashCredential(pepper, clientSecret);
  const client = {
    clientId,
    accountId,
    isOwner,
    name,
    secretHash: hash?.current ?? null,
    pepperId: hash?.pepperId ?? null,
    jwks,
  };
  return { client, clientSecret };
}

/**
 * Makes an account that nobody vouches for and its one client, which buys and is not its owner: no key, no wallet, no budget of another's. Each call makes
 * another one. Both end when the client got no token for as long as ended credentials are kept, and its account has bought nothing. Throws
 * invalid_parameter for keys that are private or symmetric.
 */
export async function registerClient(
  deps: CredentialDeps,
  request: { readonly name?: string; readonly jwks?: ClientKeys },
): Promise<{ readonly clientId: string; readonly clientSecret: string | null }> {
  const accountId = randomUUID();
  const { client, clientSecret } = newClient(deps, { ...request, accountId });
  await deps.database.transaction(async (sql) => {
    await insertBuyerAccount(joinTransaction(sql), { accountId, name: request.name ?? null, wallet: null }, null);
    await insertOauthClient(sql, client, { isRegistered: true });
  });
  return { clientId: client.clientId, clientSecret };
}

/** Revokes a client: it gets no more tokens; those it has end within the hour. Throws not_found; again: changes nothing. */
export async function revokeAccountClient(deps: Pick<CredentialDeps, 'database'>, clientId: string): Promise<void> {
  if (await revokeOauthClientRow(deps.database, clientId)) return;
  throw new ServiceError('not_found', 'there is no such client');
}

/** Issues another `svc_buyer_` key of an account, returned this once. Throws not_found. */
export async function mintBuyerKey(deps: CredentialDeps, accountId: string): Promise<{ readonly token: string }> {
  const token = generateToken('svc_buyer_');
  const { current: keyHash, pepperId } = hashCredential(deps.pepper, token);
  const key = { accountId, keyHash, pepperId, last4: token.slice(-4) };
  if (await insertBuyerKey(deps.database, key)) return { token };
  throw new ServiceError('not_found', 'there is no such account');
}

/** Revokes a `svc_buyer_` key: gone in the very next call. Throws not_found; again: changes nothing. */
export async function revokeBuyerKey(deps: CredentialDeps, token: string): Promise<void> {
  const hashes = hashesOf(hashCredential(deps.pepper, token));
  if (await revokeBuyerKeyRow(deps.database, hashes)) return;
  throw new ServiceError('not_found', 'this key was never issued');
}

/**
 * The keys as they are kept: the public members that a signature needs (RFC 7517, RFC 7518), of printable characters, and no more, since a
 * client may send anything. Throws invalid_parameter.
 */
function publicKeysOf({ keys }: ClientKeys): ClientKeys {
  if (!Array.isArray(keys)) throw new ServiceError('invalid_parameter', 'jwks must be a JWK Set', { parameter: 'jwks' });
  if (keys.length === 0 || keys.length > 10 || !keys.every(isPublicKey)) {
    throw new ServiceError('invalid_parameter', 'jwks must hold 1 to 10 public keys', { parameter: 'jwks' });
  }
  const own = keys.map((key) => Object.entries(key).filter(([name]) => PUBLIC_MEMBERS.has(name)));
  return { keys: own.map((members) => Object.fromEntries(members)) };
}

/** Members of a public key, and the most characters that each has: RSA has moduli of 4,096 bits. */
const PUBLIC_MEMBERS: ReadonlyMap<string, number> = new Map([
  ...([
    ['kty', 3],
    ['crv', 20],
    ['x', 100],
    ['y', 100],
    ['n', 700],
    ['e', 10],
    ['kid', 100],
    ['use', 10],
    ['alg', 20],
  ] as const),
]);
const PRIVATE_MEMBERS = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k'];

function isPublicKey(key: Readonly<Record<string, unknown>>): boolean {
  if (!['OKP', 'EC', 'RSA'].includes(String(key['kty'])) || PRIVATE_MEMBERS.some((name) => key[name] !== undefined)) return false;
  return [...PUBLIC_MEMBERS].every(([name, most]) => {
    const value = key[name];
    return value === undefined || (typeof value === 'string' && value.length <= most && /^[\x21-\x7e]*$/.test(value));
  });
}

/** Creates a buyer account with a long-lived credential (`svc_buyer_…`), returned this once. */
export async function createBuyerAccount(
  deps: CredentialDeps,
  request: { readonly name?: string; readonly wallet?: Address } = {},
): Promise<{ readonly accountId: string; readonly token: string }> {
  const accountId = randomUUID();
  const token = generateToken('svc_buyer_');
  const wallet = request.wallet?.toLowerCase() ?? null;
  const { current: keyHash, pepperId } = hashCredential(deps.pepper, token);
  const key = { keyHash, pepperId, last4: token.slice(-4) };
  await insertBuyerAccount(deps.database, { accountId, name: request.name ?? null, wallet }, key);
  return { accountId, token };
}
