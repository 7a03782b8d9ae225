/** Hashes of credentials while their pepper is being rotated. */
import { sql as text } from 'kysely';
import type { Sql } from '../../../db/database.ts';
import { acrossSites, run, tables } from '../../../db/statement.ts';

/** Where hashes of credentials that live long stand, by how one is replaced; an invitation's ends with it, within seven days. */
const REPLACED = {
  api_key_hash: (from: Buffer, keyHash: Buffer, pepperId: string) =>
    tables.updateTable('api_key_hash').set({ keyHash, pepperId }).where('keyHash', '=', from),
  owner_token: (from: Buffer, tokenHash: Buffer, pepperId: string) =>
    tables.updateTable('owner_token').set({ tokenHash, pepperId }).where('tokenHash', '=', from),
  buyer_key: (from: Buffer, keyHash: Buffer, pepperId: string) =>
    tables.updateTable('buyer_key').set({ keyHash, pepperId }).where('keyHash', '=', from),
  oauth_client: (from: Buffer, secretHash: Buffer, pepperId: string) =>
    tables.updateTable('oauth_client').set({ secretHash, pepperId }).where('secretHash', '=', from),
} as const;

/** A table whose hashes are replaced when their credential is used. */
export type HashTable = keyof typeof REPLACED;

/** Puts a hash in the place of another, with its pepper's check value; where that one no longer stands, nothing is changed. */
export async function replaceHash(
  sql: Sql,
  table: HashTable,
  from: Buffer,
  to: { readonly current: Buffer; readonly pepperId: string },
): Promise<void> {
  await run(sql, REPLACED[table](from, to.current, to.pepperId));
}

/** How many credentials that still work stand under this pepper, or under one that was not written down, by what they are. */
export async function countHashesUnder(sql: Sql, pepperId: string): Promise<{ readonly kind: string; readonly count: number }[]> {
  const all = acrossSites('the operator');
  const under = text<boolean>`(pepper_id is null or pepper_id = ${pepperId})`;
  const lasts = text<boolean>`(expires_at is null or expires_at > now())`;
  const counted = (kind: string) => [text.lit(kind).as('kind'), text<number>`count(*)::int`.as('count')] as const;
  const tokens = all.selectFrom('owner_token').select(counted('owner tokens')).where('revokedAt', 'is', null).where(lasts);
  const keys = all
    .selectFrom('api_key_hash as hash')
    .innerJoin('api_key as key', (join) => join.onRef('key.tenantId', '=', 'hash.tenantId').onRef('key.keyId', '=', 'hash.keyId'))
    .select(counted('publisher keys'))
    .where('key.revokedAt', 'is', null)
    .where(lasts);
  const ofBuyers = all.selectFrom('buyer_key').select(counted('buyer keys')).where('revokedAt', 'is', null);
  const ofClients = all.selectFrom('oauth_client').select(counted('client secrets')).where('revokedAt', 'is', null);
  const invitations = all
    .selectFrom('member_invite_hash as hash')
    .innerJoin('member', (join) =>
      join.onRef('member.tenantId', '=', 'hash.tenantId').onRef('member.authorId', '=', 'hash.authorId'),
    )
    .select(counted('invitations'))
    .where('member.acceptedAt', 'is', null)
    .where('member.inviteExpiresAt', '>', text<Date>`now()`);
  const found = await run(
    sql,
    keys
      .where(under)
      .unionAll(tokens.where(under))
      .unionAll(ofBuyers.where(under))
      .unionAll(ofClients.where('secretHash', 'is not', null).where(under))
      .unionAll(invitations.where(under))
      .orderBy('kind'),
  );
  return found.filter(({ count }) => count > 0);
}
