/** Sessions of the console, by the hash of what their cookie holds. */

import { sql as text } from 'kysely';
import type { Sql, Transactional } from '../../../db/database.ts';
import type { RowOf } from '../../../db/shown.ts';
import { both, columnsOf, columnsOfAny, workedOut } from '../../../db/shown.ts';
import { anyOf, run, tables } from '../../../db/statement.ts';
import type { TenantStatus } from '../../kernel/access/key.ts';
import type { OwnerTokenState } from '../../tenants/store/owners.ts';
import { ADDED_TENANTS } from '../../tenants/store/owners.ts';

/** What a session came from: a user of an identity provider, or an owner's token. */
export type SessionOrigin =
  | { readonly issuer: string; readonly userId: string; readonly tokenId: null }
  | { readonly issuer: null; readonly userId: string; readonly tokenId: string };

/** A session as it is stored. */
export interface StoredSession {
  readonly sessionHash: Buffer;
  readonly userId: string;
  /** Null for one that came from a token. */
  readonly issuer: string | null;
  /** The token it came from, as it is now; null for one of an identity provider. */
  readonly token: OwnerTokenState | null;
  readonly usedAt: Date;
  readonly expiresAt: Date;
}

/** Sessions of the same person: of a user at his issuer, or of all tokens of one site that name the same user; `$1` issuer, `$2` user, `$3` token. */
const SAME_PERSON = `user_id = $2 and issuer is not distinct from $1::text and ($3::uuid is null or token_id in (
  select other.token_id from owner_token as one join owner_token as other using (tenant_id, user_id) where one.token_id = $3::uuid))`;

/** Stores a session; of its person only the `most` used last stay, this one among them, however many sign in at once. */
export async function insertConsoleSession(
  database: Transactional,
  {
    origin,
    ...session
  }: { readonly origin: SessionOrigin; readonly sessionHash: Buffer; readonly at: Date; readonly expiresAt: Date },
  most: number,
): Promise<void> {
  const person = [origin.issuer, origin.userId, origin.tokenId];
  await database.transaction(async (sql) => {
    await sql.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [`console ${origin.issuer ?? ''} ${origin.userId}`]);
    await sql.query(
      `delete from console_session where session_hash in (
         select session_hash from console_session where ${SAME_PERSON} order by used_at desc, created_at desc offset $4)`,
      [...person, most - 1],
    );
    await sql.query(
      `insert into console_session (session_hash, issuer, user_id, token_id, created_at, used_at, expires_at)
       values ($4, $1, $2, $3, $5, $5, $6)`,
      [...person, session.sessionHash, session.at, session.expiresAt],
    );
  });
}

const SESSION = both(
  both(
    columnsOf('console_session session', ['sessionHash', 'userId', 'issuer', 'usedAt', 'expiresAt', 'tokenId']),
    columnsOfAny('owner_token token', ['revokedAt']),
  ),
  // A token has a site.
  both(
    both(workedOut<{ readonly tokenExpiresAt: Date | null }>('token.expires_at as "tokenExpiresAt"'), ADDED_TENANTS),
    columnsOf('tenant tenant', ['tenantId', 'status']),
  ),
);

/** The session with one of these hashes; null when there is none. One that has ended is returned: the caller decides. */
export async function findConsoleSession(sql: Sql, hashes: readonly Buffer[]): Promise<StoredSession | null> {
  const [row] = await sql.query<RowOf<typeof SESSION>>(
    `select ${SESSION.text} from console_session as session
       left join owner_token as token using (token_id) left join tenant using (tenant_id)
     where session.session_hash = any($1::bytea[])`,
    [hashes],
  );
  if (!row) return null;
  const { sessionHash, userId, issuer, usedAt, expiresAt, tokenId, tokenExpiresAt, tenantId, status, revokedAt, addedTenants } =
    row;
  const token =
    tokenId === null ? null : { tokenId, tenantId, userId, status, expiresAt: tokenExpiresAt, revokedAt, addedTenants };
  return { sessionHash, userId, issuer, token, usedAt, expiresAt };
}

/** Notes that a session was used. */
export async function markConsoleSessionUsed(sql: Sql, sessionHash: Buffer, at: Date): Promise<void> {
  const used = { usedAt: text<Date>`greatest(used_at, ${at})` };
  await run(sql, tables.updateTable('console_session').set(used).where('sessionHash', '=', sessionHash));
}

/** Ends a session from the next call on; again: nothing. */
export async function deleteConsoleSession(sql: Sql, hashes: readonly Buffer[]): Promise<void> {
  await run(sql, tables.deleteFrom('console_session').where('sessionHash', '=', anyOf(hashes)));
}

/** Ends every session of the person that this one is of. */
export async function deleteConsoleSessionsLike(sql: Sql, origin: SessionOrigin): Promise<void> {
  await sql.query(`delete from console_session where ${SAME_PERSON}`, [origin.issuer, origin.userId, origin.tokenId]);
}

/** What the console lists of a site. */
export interface TenantLine {
  readonly tenantId: string;
  /** Its default host; where none is proven, the one that waits longest; null where there is none at all. */
  readonly host: string | null;
  readonly status: TenantStatus;
}

/** These sites in this order. */
export async function listTenantLines(sql: Sql, tenantIds: readonly string[]): Promise<TenantLine[]> {
  return await sql.query<TenantLine & Record<string, unknown>>(
    `select tenant_id as "tenantId", status, coalesce(
         (select host from tenant_host where tenant_host.tenant_id = tenant.tenant_id and verified_at is not null
          order by position, host limit 1),
         (select host from host_challenge where host_challenge.tenant_id = tenant.tenant_id order by opened_at, host limit 1)) as host
     from tenant where tenant_id = any($1::uuid[]) order by array_position($1::uuid[], tenant_id)`,
    [tenantIds],
  );
}
