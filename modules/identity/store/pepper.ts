/** Hashes of credentials while their pepper is being rotated. */
import type { Sql } from '../../../db/database.ts';

/** Where hashes of credentials that live long stand; an invitation's ends with it, within seven days. */
const HASH_COLUMN = {
  api_key_hash: 'key_hash',
  owner_token: 'token_hash',
  buyer_key: 'key_hash',
  oauth_client: 'secret_hash',
} as const;

/** A table whose hashes are replaced when their credential is used. */
export type HashTable = keyof typeof HASH_COLUMN;

/** Puts a hash in the place of another, with its pepper's check value; where that one no longer stands, nothing is changed. */
export async function replaceHash(
  sql: Sql,
  table: HashTable,
  from: Buffer,
  to: { readonly current: Buffer; readonly pepperId: string },
): Promise<void> {
  const column = HASH_COLUMN[table];
  await sql.query(`update ${table} set ${column} = $2, pepper_id = $3 where ${column} = $1`, [from, to.current, to.pepperId]);
}

/** How many credentials that still work stand under this pepper, or under one that was not written down, by what they are. */
export async function countHashesUnder(sql: Sql, pepperId: string): Promise<{ readonly kind: string; readonly count: number }[]> {
  return await sql.query<{ kind: string; count: number }>(
    `select kind, count(*)::int as count from (
       select 'publisher keys' as kind, hash.pepper_id from api_key_hash as hash join api_key as key using (tenant_id, key_id)
         where key.revoked_at is null and (key.expires_at is null or key.expires_at > now())
       union all select 'owner tokens', pepper_id from owner_token
         where revoked_at is null and (expires_at is null or expires_at > now())
       union all select 'buyer keys', pepper_id from buyer_key where revoked_at is null
       union all select 'client secrets', pepper_id from oauth_client where revoked_at is null and secret_hash is not null
       union all select 'invitations', hash.pepper_id from member_invite_hash as hash join member using (tenant_id, author_id)
         where member.accepted_at is null and member.invite_expires_at > now()
     ) as credential where pepper_id is null or pepper_id = $1 group by kind order by kind`,
    [pepperId],
  );
}
