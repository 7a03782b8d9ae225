import { sql as text } from 'kysely';
import type { Sql } from '../../../db/database.ts';
import { anyOf, json, run, statement, tables } from '../../../db/statement.ts';

const accountByKey = statement<{ keyHashes: readonly Buffer[] }>()((place) =>
  tables
    .selectFrom('buyer_key')
    .select(['accountId', 'keyHash'])
    .where('keyHash', '=', anyOf(place('keyHashes')))
    .where('revokedAt', 'is', null),
);
/** An account that was not erased. */
const standing = (accountId: string) =>
  tables.selectFrom('buyer_account').where('accountId', '=', accountId).where('erasedAt', 'is', null);
const revoked = { revokedAt: text<Date>`coalesce(revoked_at, now())` };

/** The account of a long-lived credential, by any of its hashes, and which it was; null when it was never issued or was revoked. */
export async function findAccountByKey(
  sql: Sql,
  keyHashes: readonly Buffer[],
): Promise<{ readonly accountId: string; readonly keyHash: Buffer } | null> {
  const [row] = await accountByKey(sql, { keyHashes });
  return row ?? null;
}

/** Adds a long-lived credential to an account, as its hash; false when there is no such account, or it was erased. */
export async function insertBuyerKey(
  sql: Sql,
  key: { readonly accountId: string; readonly keyHash: Buffer; readonly pepperId: string; readonly last4: string },
): Promise<boolean> {
  const { accountId, keyHash, pepperId, last4 } = key;
  const account = standing(accountId).select((column) => [
    column.val(keyHash).as('keyHash'),
    'accountId',
    column.val(last4).as('last4'),
    column.val(pepperId).as('pepperId'),
  ]);
  const added = tables.insertInto('buyer_key').columns(['keyHash', 'accountId', 'last4', 'pepperId']).expression(account);
  return (await run(sql, added.returning('keyId'))).length > 0;
}

/** A long-lived credential of an account as its owner sees it. */
export interface AgentKey {
  readonly keyId: string;
  readonly name: string | null;
  readonly last4: string;
  readonly createdAt: Date;
}

const AGENT_KEY = ['keyId', 'name', 'last4', 'createdAt'] as const;
const letIn = (accountId: string) =>
  tables.selectFrom('buyer_key').where('accountId', '=', accountId).where('revokedAt', 'is', null);

/** The credentials of an account that let somebody in, oldest first. */
export async function listAgentKeys(sql: Sql, accountId: string): Promise<AgentKey[]> {
  return run(sql, letIn(accountId).select(AGENT_KEY).orderBy('createdAt').orderBy('keyId'));
}

/** Adds a credential to an account, unless `most` let somebody in already. Run it in a database transaction. */
export async function insertAgentKey(
  sql: Sql,
  key: {
    readonly accountId: string;
    readonly name: string;
    readonly keyHash: Buffer;
    readonly pepperId: string;
    readonly last4: string;
  },
  most: number,
): Promise<AgentKey | 'full' | 'no_account'> {
  const { accountId, name, keyHash, pepperId, last4 } = key;
  const account = await run(sql, standing(accountId).select('accountId').forNoKeyUpdate());
  if (account.length === 0) return 'no_account';
  if ((await run(sql, letIn(accountId).select('keyId').limit(most))).length >= most) return 'full';
  const added = tables.insertInto('buyer_key').values({ keyHash, accountId, last4, pepperId, name });
  const [row] = await run(sql, added.returning(AGENT_KEY));
  return row ?? 'full';
}

/** Revokes a credential of an account from the next call on; false when the account has none of that id. Again: keeps the first time. */
export async function revokeAgentKeyRow(sql: Sql, accountId: string, keyId: string): Promise<boolean> {
  const key = tables.updateTable('buyer_key').set(revoked).where('accountId', '=', accountId).where('keyId', '=', keyId);
  return (await run(sql, key.returning('keyId'))).length > 0;
}

/** Revokes a long-lived credential, by any of its hashes, from the next call on; false when it was never issued. */
export async function revokeBuyerKeyRow(sql: Sql, keyHashes: readonly Buffer[]): Promise<boolean> {
  const keys = tables.updateTable('buyer_key').set(revoked).where('keyHash', '=', anyOf(keyHashes));
  return (await run(sql, keys.returning('keyId'))).length > 0;
}

/** The account of a wallet, made at its first sign-in; two calls at once get the same one. */
export async function openAccountOfWallet(sql: Sql, accountId: string, wallet: string): Promise<string> {
  const [row] = await run(
    sql,
    tables
      .insertInto('buyer_account')
      .values({ accountId, wallet })
      .onConflict((conflict) => conflict.column('wallet').doUpdateSet({ wallet }))
      .returning('accountId'),
  );
  return row?.accountId ?? accountId;
}

/** A client of an account (OAuth 2): with a secret, or with public keys. */
export interface OauthClient {
  readonly clientId: string;
  readonly accountId: string;
  /** True: its tokens are the owner's. */
  readonly isOwner: boolean;
  readonly secretHash: Buffer | null;
  /** JWK Set. */
  readonly jwks: { readonly keys: readonly Readonly<Record<string, unknown>>[] } | null;
}

/** A client to store. */
export interface NewOauthClient extends OauthClient {
  readonly name: string | null;
  readonly pepperId: string | null;
}

/** Stores a client; false when there is no such account, or it was erased. One that registered itself ends when it is not used for long. */
export async function insertOauthClient(
  sql: Sql,
  client: NewOauthClient,
  { isRegistered = false }: { readonly isRegistered?: boolean } = {},
): Promise<boolean> {
  const { clientId, accountId, name, secretHash, jwks, pepperId, isOwner } = client;
  const account = standing(accountId).select((column) => [
    column.val(clientId).as('clientId'),
    'accountId',
    column.val(name).as('name'),
    column.val(secretHash).as('secretHash'),
    (jwks === null ? text<OauthClient['jwks']>`null` : json<OauthClient['jwks']>(jwks)).as('jwks'),
    column.val(pepperId).as('pepperId'),
    column.val(isOwner).as('isOwner'),
    (isRegistered ? text<Date | null>`now()` : text<Date | null>`null::timestamptz`).as('lastUsedAt'),
  ]);
  const columns = ['clientId', 'accountId', 'name', 'secretHash', 'jwks', 'pepperId', 'isOwner', 'lastUsedAt'] as const;
  const added = tables.insertInto('oauth_client').columns(columns).expression(account);
  return (await run(sql, added.returning('clientId'))).length > 0;
}

/**
 * A client that was not revoked; null when there is none of that id. `isLongUnused`: it registered itself, and its last use was written down a
 * day ago or before.
 */
export async function findOauthClient(
  sql: Sql,
  clientId: string,
): Promise<(OauthClient & { readonly isLongUnused: boolean }) | null> {
  const [row] = await run(
    sql,
    tables
      .selectFrom('oauth_client')
      .select(['clientId', 'accountId', 'isOwner', 'secretHash', 'jwks'])
      .select(text<boolean>`coalesce(last_used_at < now() - interval '1 day', false)`.as('isLongUnused'))
      .where('clientId', '=', clientId)
      .where('revokedAt', 'is', null),
  );
  return row ?? null;
}

/** Writes down that a client that registered itself was let in now. */
export async function markClientUsed(sql: Sql, clientId: string): Promise<void> {
  const used = tables.updateTable('oauth_client').set({ lastUsedAt: text<Date>`now()` });
  await run(sql, used.where('clientId', '=', clientId).where('lastUsedAt', 'is not', null));
}

/** Revokes a client: it gets no more tokens; false when there is none of that id. */
export async function revokeOauthClientRow(sql: Sql, clientId: string): Promise<boolean> {
  const client = tables.updateTable('oauth_client').set(revoked).where('clientId', '=', clientId);
  return (await run(sql, client.returning('clientId'))).length > 0;
}
