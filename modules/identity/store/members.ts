/** The author roster of a tenant. */
import type { Sql, Transactional } from '../../../db/database.ts';

/** One author on the roster. */
export interface MemberRow {
  readonly tenantId: string;
  readonly authorId: string;
  readonly email: string;
  readonly userId: string | null;
  readonly acceptedAt: Date | null;
  readonly inviteId: string;
  readonly inviteExpiresAt: Date;
  /** Of the open invitation; null when there is none. */
  readonly tokenHash: Buffer | null;
}

/** The tenant's owner, and its members in the order they were added; null when there is no such tenant. */
export async function findRoster(sql: Sql, tenantId: string): Promise<{ owner: string | null; members: MemberRow[] } | null> {
  const tenants = await sql.query<{ owner_user_id: string | null }>('select owner_user_id from tenant where tenant_id = $1', [
    tenantId,
  ]);
  if (!tenants[0]) return null;
  const rows = await sql.query<{
    author_id: string;
    email: string;
    user_id: string | null;
    accepted_at: Date | null;
    invite_id: string;
    invite_expires_at: Date;
    token_hash: Buffer | null;
  }>(
    `select author_id, email, user_id, accepted_at, invite_id, invite_expires_at, token_hash
       from member left join member_invite_hash using (tenant_id, author_id) where tenant_id = $1
      order by created_at, author_id`,
    [tenantId],
  );
  const members = rows.map((row) => ({
    tenantId,
    authorId: row.author_id,
    email: row.email,
    userId: row.user_id,
    acceptedAt: row.accepted_at,
    inviteId: row.invite_id,
    inviteExpiresAt: row.invite_expires_at,
    tokenHash: row.token_hash,
  }));
  return { owner: tenants[0].owner_user_id, members };
}

/**
 * Adds an author, or invites one anew who has not accepted: the older invitation ends with that. False when the author has
 * accepted. Another author with this e-mail: 23505; no such tenant: 23503.
 */
export async function saveInvitation(
  database: Transactional,
  member: Pick<MemberRow, 'tenantId' | 'authorId' | 'email' | 'inviteId' | 'inviteExpiresAt'> & {
    readonly tokenHash: Buffer;
    readonly pepperId: string;
  },
): Promise<boolean> {
  return database.transaction(async (sql) => {
    const rows = await sql.query(
      `insert into member (tenant_id, author_id, email, invite_id, invite_expires_at) values ($1, $2, $3, $4, $5)
       on conflict (tenant_id, author_id) do update set email = excluded.email, invite_id = excluded.invite_id,
         invite_expires_at = excluded.invite_expires_at where member.accepted_at is null
       returning 1`,
      [member.tenantId, member.authorId, member.email, member.inviteId, member.inviteExpiresAt],
    );
    if (rows.length === 0) return false;
    await sql.query('delete from member_invite_hash where tenant_id = $1 and author_id = $2', [member.tenantId, member.authorId]);
    await sql.query('insert into member_invite_hash (token_hash, tenant_id, author_id, pepper_id) values ($1, $2, $3, $4)', [
      member.tokenHash,
      member.tenantId,
      member.authorId,
      member.pepperId,
    ]);
    return true;
  });
}

/** Uses an invitation up, by any of its hashes: its author has accepted from now on. Null when it is unknown, used or expired. */
export async function useInvitation(
  sql: Sql,
  tokenHashes: readonly Buffer[],
  userId: string | null,
  at: Date,
): Promise<{ tenantId: string; authorId: string } | null> {
  const rows = await sql.query<{ tenant_id: string; author_id: string }>(
    `with used as (delete from member_invite_hash where token_hash = any($1::bytea[]) returning tenant_id, author_id)
     update member set accepted_at = $3, user_id = $2 from used
      where member.tenant_id = used.tenant_id and member.author_id = used.author_id and member.accepted_at is null
        and member.invite_expires_at > $3
     returning member.tenant_id, member.author_id`,
    [tokenHashes, userId, at],
  );
  const [row] = rows;
  return row ? { tenantId: row.tenant_id, authorId: row.author_id } : null;
}

/** An author on the roster as the audit log shows it, without anything an invitation is made of; null when there is none. */
export async function findMember(
  sql: Sql,
  tenantId: string,
  authorId: string,
): Promise<{ readonly email: string; readonly userId: string | null; readonly inviteExpiresAt: Date } | null> {
  const [row] = await sql.query<{ email: string; user_id: string | null; invite_expires_at: Date }>(
    'select email, user_id, invite_expires_at from member where tenant_id = $1 and author_id = $2',
    [tenantId, authorId],
  );
  return row ? { email: row.email, userId: row.user_id, inviteExpiresAt: row.invite_expires_at } : null;
}

/** Removes an author who has not accepted, with the invitation; says when there is none, or when the author has accepted. */
export async function revokeInvitationRow(
  sql: Sql,
  tenantId: string,
  authorId: string,
): Promise<'revoked' | 'accepted' | 'none'> {
  const [row] = await sql.query<{ accepted: boolean }>(
    'select accepted_at is not null as accepted from member where tenant_id = $1 and author_id = $2 for update',
    [tenantId, authorId],
  );
  if (row === undefined) return 'none';
  if (row.accepted) return 'accepted';
  await removeMemberRow(sql, tenantId, authorId);
  return 'revoked';
}

/** Removes an author and an open invitation; false when there is no such author. Run it in a database transaction. */
export async function removeMemberRow(sql: Sql, tenantId: string, authorId: string): Promise<boolean> {
  await sql.query('delete from member_invite_hash where tenant_id = $1 and author_id = $2', [tenantId, authorId]);
  const rows = await sql.query('delete from member where tenant_id = $1 and author_id = $2 returning 1', [tenantId, authorId]);
  return rows.length > 0;
}
