/** Sessions of the console, by the hash of what their cookie holds. */

import type { ExpressionBuilder } from 'kysely';
import { sql as text } from 'kysely';
import type { Sql, Transactional } from '../../../db/database.ts';
import { acrossSites, anyOf, run, statement, tables } from '../../../db/statement.ts';
import type { Tables } from '../../../db/tables.ts';
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

/** Whose session it is: a user's at his issuer, or that of all tokens of one site which name the same user. */
const ofPerson = ({ issuer, userId, tokenId }: SessionOrigin) => {
  const tokens = tables
    .selectFrom('owner_token as one')
    .innerJoin('owner_token as other', (join) =>
      join.onRef('other.tenantId', '=', 'one.tenantId').onRef('other.userId', '=', 'one.userId'),
    )
    .select('other.tokenId')
    .where('one.tokenId', '=', tokenId);
  return (session: ExpressionBuilder<Tables, 'console_session'>) =>
    session.and([
      session('userId', '=', userId),
      session('issuer', 'is not distinct from', issuer),
      ...(tokenId === null ? [] : [session('tokenId', 'in', tokens)]),
    ]);
};

/** Stores a session; of its person only the `most` used last stay, this one among them, however many sign in at once. */
export async function insertConsoleSession(
  database: Transactional,
  {
    origin,
    ...session
  }: { readonly origin: SessionOrigin; readonly sessionHash: Buffer; readonly at: Date; readonly expiresAt: Date },
  most: number,
): Promise<void> {
  const { issuer, userId, tokenId } = origin;
  const { sessionHash, at, expiresAt } = session;
  await database.transaction(async (sql) => {
    await sql.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [`console ${issuer ?? ''} ${userId}`]);
    const own = tables.selectFrom('console_session').select('sessionHash').where(ofPerson(origin));
    const older = own
      .orderBy('usedAt', 'desc')
      .orderBy('createdAt', 'desc')
      .offset(most - 1);
    await run(sql, tables.deleteFrom('console_session').where('sessionHash', 'in', older));
    const row = { sessionHash, issuer, userId, tokenId, createdAt: at, usedAt: at, expiresAt };
    await run(sql, tables.insertInto('console_session').values(row));
  });
}

const sessionOf = statement<{ readonly hashes: readonly Buffer[] }>()((place) =>
  tables
    .selectFrom('console_session as session')
    .leftJoin('owner_token as token', 'token.tokenId', 'session.tokenId')
    .leftJoin('tenant', 'tenant.tenantId', 'token.tenantId')
    .select((column) => [
      ...(['session.sessionHash', 'session.userId', 'session.issuer', 'session.usedAt', 'session.expiresAt'] as const),
      ...(['session.tokenId', 'token.revokedAt', 'token.expiresAt as tokenExpiresAt'] as const),
      // A token has a site.
      column.ref('tenant.tenantId').$notNull().as('tenantId'),
      column.ref('tenant.status').$notNull().as('status'),
      ADDED_TENANTS,
    ])
    .where('session.sessionHash', '=', anyOf(place('hashes'))),
);

/** The session with one of these hashes; null when there is none. One that has ended is returned: the caller decides. */
export async function findConsoleSession(sql: Sql, hashes: readonly Buffer[]): Promise<StoredSession | null> {
  const [row] = await sessionOf(sql, { hashes });
  if (!row) return null;
  const { tokenId, tokenExpiresAt, tenantId, status, revokedAt, addedTenants, ...session } = row;
  const { userId } = session;
  const token =
    tokenId === null ? null : { tokenId, tenantId, userId, status, expiresAt: tokenExpiresAt, revokedAt, addedTenants };
  return { ...session, token };
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
  await run(sql, tables.deleteFrom('console_session').where(ofPerson(origin)));
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
  const lines = acrossSites('an owner of sites')
    .selectFrom('tenant')
    .select((column) => {
      const proven = column
        .selectFrom('tenant_host as own')
        .select('own.host')
        .whereRef('own.tenantId', '=', 'tenant.tenantId')
        .where('own.verifiedAt', 'is not', null);
      const waiting = column.selectFrom('host_challenge as asked').select('asked.host');
      const waits = waiting.whereRef('asked.tenantId', '=', 'tenant.tenantId');
      return [
        ...(['tenant.tenantId', 'tenant.status'] as const),
        column.fn
          .coalesce(
            proven.orderBy('own.position').orderBy('own.host').limit(1),
            waits.orderBy('asked.openedAt').orderBy('asked.host').limit(1),
          )
          .as('host'),
      ];
    })
    .where('tenant.tenantId', '=', anyOf(tenantIds))
    .orderBy(text`array_position(${tenantIds}::uuid[], tenant.tenant_id)`);
  return run(sql, lines);
}
