/** The author roster of a tenant. */
import type { Sql, Transactional } from '../../../db/database.ts';
import { run, statement, tables } from '../../../db/statement.ts';

const ROSTER = statement<{ tenantId: string }>()((place) =>
  tables
    .selectFrom('member')
    .leftJoin('member_invite_hash as hash', (on) =>
      on.onRef('hash.tenantId', '=', 'member.tenantId').onRef('hash.authorId', '=', 'member.authorId'),
    )
    .where('member.tenantId', '=', place('tenantId'))
    .select(['member.tenantId', 'member.authorId', 'member.email', 'member.userId', 'member.acceptedAt', 'member.inviteId'])
    // `tokenHash` is of the open invitation; null when there is none.
    .select(['member.inviteExpiresAt', 'hash.tokenHash'])
    .orderBy('member.createdAt')
    .orderBy('member.authorId'),
);

/** One author on the roster. */
export type Member = Readonly<Awaited<ReturnType<typeof ROSTER>>[number]>;

const memberOf = (tenantId: string, authorId: string) =>
  tables.selectFrom('member').where('tenantId', '=', tenantId).where('authorId', '=', authorId);

/** The tenant's owner, and its members in the order they were added; null when there is no such tenant. */
export async function findRoster(sql: Sql, tenantId: string): Promise<{ owner: string | null; members: Member[] } | null> {
  const [tenant] = await run(sql, tables.selectFrom('tenant').select('ownerUserId').where('tenantId', '=', tenantId));
  return tenant === undefined ? null : { owner: tenant.ownerUserId, members: await ROSTER(sql, { tenantId }) };
}

/**
 * Adds an author, or invites one again who has not accepted: the older invitation ends with that. False when the author has
 * accepted. Another author with this e-mail: 23505; no such tenant: 23503.
 */
export async function saveInvitation(
  database: Transactional,
  member: Pick<Member, 'tenantId' | 'authorId' | 'email' | 'inviteId' | 'inviteExpiresAt'> & {
    readonly tokenHash: Buffer;
    readonly pepperId: string;
  },
): Promise<boolean> {
  return database.transaction(async (sql) => {
    const { tenantId, authorId, tokenHash, pepperId } = member;
    const invited = { email: member.email, inviteId: member.inviteId, inviteExpiresAt: member.inviteExpiresAt };
    const rows = await run(
      sql,
      tables
        .insertInto('member')
        .values({ tenantId, authorId, ...invited })
        .onConflict((conflict) =>
          conflict.columns(['tenantId', 'authorId']).doUpdateSet(invited).where('member.acceptedAt', 'is', null),
        )
        .returning('authorId'),
    );
    if (rows.length === 0) return false;
    await run(sql, endInvitation(tenantId, authorId));
    await run(sql, tables.insertInto('member_invite_hash').values({ tokenHash, tenantId, authorId, pepperId }));
    return true;
  });
}

const endInvitation = (tenantId: string, authorId: string) =>
  tables.deleteFrom('member_invite_hash').where('tenantId', '=', tenantId).where('authorId', '=', authorId);

/** Uses an invitation up, by any of its hashes: its author has accepted from now on. Null when it is unknown, used or expired. */
export async function useInvitation(
  sql: Sql,
  tokenHashes: readonly Buffer[],
  userId: string | null,
  at: Date,
): Promise<{ tenantId: string; authorId: string } | null> {
  const rows = await sql.query<{ tenantId: string; authorId: string }>(
    `with used as (delete from member_invite_hash where token_hash = any($1::bytea[]) returning tenant_id, author_id)
     update member set accepted_at = $3, user_id = $2 from used
      where member.tenant_id = used.tenant_id and member.author_id = used.author_id and member.accepted_at is null
        and member.invite_expires_at > $3
     returning member.tenant_id as "tenantId", member.author_id as "authorId"`,
    [tokenHashes, userId, at],
  );
  return rows[0] ?? null;
}

/** An author on the roster as the audit log shows it, without anything an invitation is made of; null when there is none. */
export async function findMember(
  sql: Sql,
  tenantId: string,
  authorId: string,
): Promise<Pick<Member, 'email' | 'userId' | 'inviteExpiresAt'> | null> {
  const [row] = await run(sql, memberOf(tenantId, authorId).select(['email', 'userId', 'inviteExpiresAt']));
  return row ?? null;
}

/** Removes an author who has not accepted, with the invitation; says when there is none, or when the author has accepted. */
export async function revokeInvitationRow(
  sql: Sql,
  tenantId: string,
  authorId: string,
): Promise<'revoked' | 'accepted' | 'none'> {
  const [row] = await run(sql, memberOf(tenantId, authorId).select('acceptedAt').forUpdate());
  if (row === undefined) return 'none';
  if (row.acceptedAt !== null) return 'accepted';
  await removeMemberRow(sql, tenantId, authorId);
  return 'revoked';
}

/** Removes an author and an open invitation; false when there is no such author. Run it in a database transaction. */
export async function removeMemberRow(sql: Sql, tenantId: string, authorId: string): Promise<boolean> {
  await run(sql, endInvitation(tenantId, authorId));
  const member = tables.deleteFrom('member').where('tenantId', '=', tenantId).where('authorId', '=', authorId);
  return (await run(sql, member.returning('authorId'))).length > 0;
}
