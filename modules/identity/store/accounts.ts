import { sql as text } from 'kysely';
import type { Sql } from '../../../db/database.ts';
import { anyOf, run, statement, tables } from '../../../db/statement.ts';

const accountByKey = statement<{ keyHashes: readonly Buffer[] }>()((place) =>
  tables
    .selectFrom('buyer_key')
    .select(['accountId', 'keyHash'])
    .where('keyHash', '=', anyOf(place('keyHashes')))
    .where('revokedAt', 'is', null),
);
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
  const rows = await sql.query(
    `insert into buyer_key (key_hash, account_id, last4, pepper_id)
     select $1, account_id, $3, $4 from buyer_account where account_id = $2 and erased_at is null returning 1`,
    [key.keyHash, key.accountId, key.last4, key.pepperId],
  );
  return rows.length > 0;
}

/** A long-lived credential of an account as its owner sees it. */
export interface AgentKey {
  readonly keyId: string;
  readonly name: string | null;
  readonly last4: string;
  readonly createdAt: Date;
}

/** The credentials of an account that let somebody in, oldest first. */
export async function listAgentKeys(sql: Sql, accountId: string): Promise<AgentKey[]> {
  const keys = tables.selectFrom('buyer_key').where('accountId', '=', accountId).where('revokedAt', 'is', null);
  return run(sql, keys.select(['keyId', 'name', 'last4', 'createdAt']).orderBy('createdAt').orderBy('keyId'));
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
  const accounts = await sql.query('select from buyer_account where account_id = $1 and erased_at is null for no key update', [
    key.accountId,
  ]);
  if (accounts.length === 0) return 'no_account';
  const [row] = await sql.query<AgentKey & Record<string, unknown>>(
    `insert into buyer_key (key_hash, account_id, last4, pepper_id, name)
     select $1, $2, $3, $4, $5 where (select count(*) from buyer_key where account_id = $2 and revoked_at is null) < $6
     returning key_id as "keyId", name, last4, created_at as "createdAt"`,
    [key.keyHash, key.accountId, key.last4, key.pepperId, key.name, most],
  );
  return row ?? 'full';
}

/** Revokes a credential of an account from the next call on; false when the account has none of that id. Again: keeps the first time. */
export async function revokeAgentKeyRow(sql: Sql, accountId: string, keyId: string): Promise<boolean> {
  const rows = await sql.query(
    'update buyer_key set revoked_at = coalesce(revoked_at, now()) where account_id = $1 and key_id = $2 returning 1',
    [accountId, keyId],
  );
  return rows.length > 0;
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

/** Stores a client; false when there is no such account, or it was erased. */
export async function insertOauthClient(
  sql: Sql,
  client: OauthClient & { readonly name: string | null; readonly pepperId: string | null },
): Promise<boolean> {
  const rows = await sql.query(
    `insert into oauth_client (client_id, account_id, name, secret_hash, jwks, pepper_id, is_owner)
     select $1, account_id, $3, $4, $5, $6, $7 from buyer_account where account_id = $2 and erased_at is null returning 1`,
    [
      client.clientId,
      client.accountId,
      client.name,
      client.secretHash,
      client.jwks === null ? null : JSON.stringify(client.jwks),
      client.pepperId,
      client.isOwner,
    ],
  );
  return rows.length > 0;
}

/** A client that was not revoked; null when there is none of that id. */
export async function findOauthClient(sql: Sql, clientId: string): Promise<OauthClient | null> {
  const [row] = await run(
    sql,
    tables
      .selectFrom('oauth_client')
      .select(['clientId', 'accountId', 'isOwner', 'secretHash', 'jwks'])
      .where('clientId', '=', clientId)
      .where('revokedAt', 'is', null),
  );
  return row ?? null;
}

/** Revokes a client: it gets no more tokens; false when there is none of that id. */
export async function revokeOauthClientRow(sql: Sql, clientId: string): Promise<boolean> {
  const client = tables.updateTable('oauth_client').set(revoked).where('clientId', '=', clientId);
  return (await run(sql, client.returning('clientId'))).length > 0;
}
