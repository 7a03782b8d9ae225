/** Who owns sites, and the tokens of bin/admin that stand for an owner. */

import type { Sql } from '../../../db/database.ts';
import type { TenantStatus } from '../../kernel/access/key.ts';

/** Most sites one sign-in covers. */
const MAX_TENANTS = 1_000;

/** A user of an identity provider: the same subject of another issuer is somebody else. */
export interface OwnerName {
  readonly issuer: string;
  readonly userId: string;
}

/**
 * The sites a user owns that are not closed, the oldest first; at most 1,000. One whose owner has no issuer yet takes this one, for good,
 * in this call.
 */
export async function listOwnedTenants(sql: Sql, { issuer, userId }: OwnerName): Promise<string[]> {
  const list = () =>
    sql.query<{ tenant_id: string; issuer: string | null }>(
      `select tenant_id, owner_issuer as issuer from tenant
       where owner_user_id = $1 and (owner_issuer = $2 or owner_issuer is null) and status <> 'closed'
       order by created_at, tenant_id limit ${MAX_TENANTS}`,
      [userId, issuer],
    );
  let rows = await list();
  if (rows.some((row) => row.issuer === null)) {
    await bindOwners(sql, issuer, userId);
    rows = await list();
  }
  return rows.flatMap((row) => (row.issuer === issuer ? [row.tenant_id] : []));
}

/** Gives sites whose owner has no issuer yet to this one, for good: those of a user, else all; how many. Of two at once one gets each. */
export async function bindOwners(sql: Sql, issuer: string, userId: string | null = null): Promise<number> {
  const rows = await sql.query(
    `update tenant set owner_issuer = $1
     where owner_user_id is not null and owner_issuer is null and ($2::text is null or owner_user_id = $2) returning 1`,
    [issuer, userId],
  );
  return rows.length;
}

/**
 * Who a token's user is: a name that its site gave, which another site may give to somebody else. No identity provider has this issuer,
 * which must be a URL.
 */
export function namedByTenant(tenantId: string, userId: string): OwnerName {
  return { issuer: `site:${tenantId}`, userId };
}

/** How much a user has already, before another site is added. */
export interface OwnedCount {
  /** Closed ones counted. */
  readonly tenants: number;
  readonly suspended: number;
  /** Sites with an owner that were added after `since`, whoever owns them. */
  readonly ofAll: number;
}

/**
 * Counts the sites of a user (those of the name, and those named), and everybody's since a moment. No other call counts before this database
 * transaction ends, so that each count holds what was added by the one before.
 */
export async function countTenantsAlone(
  sql: Sql,
  { issuer, userId }: OwnerName,
  tenantIds: readonly string[],
  since: Date,
): Promise<OwnedCount> {
  await sql.query(`select pg_advisory_xact_lock(hashtextextended('site.create', 0))`);
  const [row] = await sql.query<{ tenants: string; suspended: string; of_all: string }>(
    `select count(*) as tenants, count(*) filter (where status = 'suspended') as suspended,
       (select count(*) from tenant where created_at > $4 and owner_issuer is not null) as of_all
     from tenant where owner_user_id = $1 and owner_issuer = $2 or tenant_id = any($3::uuid[])`,
    [userId, issuer, tenantIds, since],
  );
  return { tenants: Number(row?.tenants), suspended: Number(row?.suspended), ofAll: Number(row?.of_all) };
}

/** The site of a user that waits for this host and has none yet; null when there is none. */
export async function findBegunTenant(sql: Sql, { issuer, userId }: OwnerName, host: string): Promise<string | null> {
  const [row] = await sql.query<{ tenant_id: string }>(
    `select tenant_id from tenant join host_challenge using (tenant_id)
     where owner_user_id = $1 and owner_issuer = $2 and status <> 'closed' and host = $3 and state = 'open'
       and not exists (select 1 from tenant_host where tenant_host.tenant_id = tenant.tenant_id)
     order by tenant.created_at limit 1`,
    [userId, issuer, host],
  );
  return row?.tenant_id ?? null;
}

/** What a token of an owner stands for, as it is now. */
export interface OwnerTokenState {
  readonly tokenId: string;
  readonly tenantId: string;
  readonly userId: string;
  readonly status: TenantStatus;
  /** Open sites that the user of this site's tokens added, the oldest first. */
  readonly addedTenants: readonly string[];
  readonly expiresAt: Date | null;
  readonly revokedAt: Date | null;
}

/** Open sites that were added in the name of a token's user, the oldest first: a column of a query in which it is `token`. */
export const ADDED_TENANTS = `array(select added.tenant_id from tenant as added where added.owner_user_id = token.user_id
  and added.owner_issuer = 'site:' || token.tenant_id and added.status <> 'closed'
  order by added.created_at, added.tenant_id limit ${MAX_TENANTS}) as "addedTenants"`;

/**
 * The token with one of these hashes, which of them it was, and its site; null when none was ever issued. Expired and revoked ones are
 * returned: the caller decides.
 */
export async function findOwnerToken(
  sql: Sql,
  tokenHashes: readonly Buffer[],
): Promise<(OwnerTokenState & { readonly tokenHash: Buffer }) | null> {
  const [row] = await sql.query<OwnerTokenState & { readonly tokenHash: Buffer } & Record<string, unknown>>(
    `select token.token_id as "tokenId", tenant.tenant_id as "tenantId", tenant.status, token.user_id as "userId", token.expires_at as "expiresAt",
       token.revoked_at as "revokedAt", token.token_hash as "tokenHash", ${ADDED_TENANTS}
     from owner_token as token join tenant on tenant.tenant_id = token.tenant_id where token.token_hash = any($1::bytea[])`,
    [tokenHashes],
  );
  return row ?? null;
}

/** Stores a token of a tenant's owner, as its hash; returns its id. */
export async function insertOwnerToken(
  sql: Sql,
  token: {
    readonly tenantId: string;
    readonly userId: string;
    readonly tokenHash: Buffer;
    readonly pepperId: string;
    readonly last4: string;
    readonly expiresAt: Date | null;
  },
): Promise<string> {
  const [row] = await sql.query<{ token_id: string }>(
    `insert into owner_token (token_hash, tenant_id, user_id, last4, expires_at, pepper_id) values ($1, $2, $3, $4, $5, $6)
     returning token_id`,
    [token.tokenHash, token.tenantId, token.userId, token.last4, token.expiresAt, token.pepperId],
  );
  return String(row?.token_id);
}

/** A token as an operator sees it. */
export interface ListedOwnerToken {
  readonly tokenId: string;
  readonly userId: string;
  readonly last4: string;
  readonly createdAt: Date;
  readonly expiresAt: Date | null;
  readonly revokedAt: Date | null;
}

/** Every token of a site's owners, the newest first. */
export async function listOwnerTokenRows(sql: Sql, tenantId: string): Promise<ListedOwnerToken[]> {
  return await sql.query<ListedOwnerToken & Record<string, unknown>>(
    `select token_id as "tokenId", user_id as "userId", last4, created_at as "createdAt", expires_at as "expiresAt",
       revoked_at as "revokedAt" from owner_token where tenant_id = $1 order by created_at desc, token_id`,
    [tenantId],
  );
}

/** Revokes a token from the next call on; false when the site has no such token. Again: keeps the first time. */
export async function markOwnerTokenRevoked(sql: Sql, tenantId: string, tokenId: string, at: Date): Promise<boolean> {
  const rows = await sql.query(
    'update owner_token set revoked_at = coalesce(revoked_at, $3) where tenant_id = $1 and token_id = $2 returning 1',
    [tenantId, tokenId, at],
  );
  return rows.length > 0;
}

/** The user who owns a site, and of which issuer; null for what is not known, or when there is no such site. */
export async function findOwner(
  sql: Sql,
  tenantId: string,
): Promise<{ readonly userId: string | null; readonly issuer: string | null }> {
  const [row] = await sql.query<{ userId: string | null; issuer: string | null }>(
    'select owner_user_id as "userId", owner_issuer as issuer from tenant where tenant_id = $1',
    [tenantId],
  );
  return row ?? { userId: null, issuer: null };
}

/** Makes a user the owner of a site, issuer null for one not known yet; false when there is no such site. Sign-in follows in the next call. */
export async function setOwner(
  sql: Sql,
  tenantId: string,
  owner: { readonly userId: string; readonly issuer: string | null },
  at: Date,
): Promise<boolean> {
  const rows = await sql.query(
    `update tenant set owner_user_id = $2, owner_issuer = $3, version = version + 1, updated_at = $4
     where tenant_id = $1 returning 1`,
    [tenantId, owner.userId, owner.issuer, at],
  );
  return rows.length > 0;
}

/** Locks a site for the rest of the database transaction, so that its owner's changes come one after the other; null: no such site. */
export async function lockTenant(
  sql: Sql,
  tenantId: string,
): Promise<{ readonly status: TenantStatus; readonly version: number } | null> {
  const [row] = await sql.query<{ status: TenantStatus; version: number }>(
    'select status, version from tenant where tenant_id = $1 for no key update',
    [tenantId],
  );
  return row ?? null;
}
