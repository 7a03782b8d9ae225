/** Who owns sites, and the tokens of bin/admin that stand for an owner. */

import { sql as text } from 'kysely';
import type { Sql } from '../../../db/database.ts';
import { acrossSites, anyOf, run, statement, tables } from '../../../db/statement.ts';
import type { TenantStatus } from '../../kernel/access/key.ts';
import { changeTenant } from './tenants.ts';

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
  const owned = acrossSites('an owner of sites')
    .selectFrom('tenant')
    .select(['tenantId', 'ownerIssuer'])
    .where('ownerUserId', '=', userId)
    .where((is) => is.or([is('ownerIssuer', '=', issuer), is('ownerIssuer', 'is', null)]))
    .where('status', '<>', 'closed')
    .orderBy('createdAt')
    .orderBy('tenantId')
    .limit(MAX_TENANTS);
  let rows = await run(sql, owned);
  if (rows.some((row) => row.ownerIssuer === null)) {
    await bindOwners(sql, issuer, userId);
    rows = await run(sql, owned);
  }
  return rows.flatMap((row) => (row.ownerIssuer === issuer ? [row.tenantId] : []));
}

/** Gives sites whose owner has no issuer yet to this one, for good: those of a user, else all; how many. Of two at once one gets each. */
export async function bindOwners(sql: Sql, issuer: string, userId: string | null = null): Promise<number> {
  const unbound = acrossSites('an owner of sites')
    .updateTable('tenant')
    .set({ ownerIssuer: issuer })
    .where('ownerUserId', 'is not', null)
    .where('ownerIssuer', 'is', null);
  const bound = userId === null ? unbound : unbound.where('ownerUserId', '=', userId);
  return (await run(sql, bound.returning('tenantId'))).length;
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
  /** Sites with an owner that were added after `since`, of all owners. */
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
  const all = acrossSites('an owner of sites').selectFrom('tenant');
  const [own] = await run(
    sql,
    all
      .select(({ fn }) => [
        fn.countAll<string>().as('tenants'),
        fn.countAll<string>().filterWhere('status', '=', 'suspended').as('suspended'),
      ])
      .where((is) =>
        is.or([is.and([is('ownerUserId', '=', userId), is('ownerIssuer', '=', issuer)]), is('tenantId', '=', anyOf(tenantIds))]),
      ),
  );
  const added = all.where('createdAt', '>', since).where('ownerIssuer', 'is not', null);
  const [every] = await run(
    sql,
    added.select(({ fn }) => fn.countAll<string>().as('count')),
  );
  return { tenants: Number(own?.tenants), suspended: Number(own?.suspended), ofAll: Number(every?.count) };
}

/** The site of a user that waits for this host and has none yet; null when there is none. */
export async function findBegunTenant(sql: Sql, { issuer, userId }: OwnerName, host: string): Promise<string | null> {
  const begun = acrossSites('an owner of sites')
    .selectFrom('tenant')
    .innerJoin('host_challenge as waits', 'waits.tenantId', 'tenant.tenantId')
    .select('tenant.tenantId')
    .where('tenant.ownerUserId', '=', userId)
    .where('tenant.ownerIssuer', '=', issuer)
    .where('tenant.status', '<>', 'closed')
    .where('waits.host', '=', host)
    .where('waits.state', '=', 'open')
    .where(({ not, exists, selectFrom }) =>
      not(exists(selectFrom('tenant_host as proven').select('proven.host').whereRef('proven.tenantId', '=', 'tenant.tenantId'))),
    )
    .orderBy('tenant.createdAt')
    .limit(1);
  const [row] = await run(sql, begun);
  return row?.tenantId ?? null;
}

/** What a token of an owner stands for, as it is now. */
export interface OwnerTokenState {
  readonly tokenId: string;
  readonly userId: string;
  readonly expiresAt: Date | null;
  readonly revokedAt: Date | null;
  readonly tenantId: string;
  readonly status: TenantStatus;
  /** Open sites that the user of this site's tokens added, the oldest first. */
  readonly addedTenants: readonly string[];
}

/** Open sites that were added in the name of a token's user, the oldest first: a column of a statement in which it is `token`. */
export const ADDED_TENANTS = text<readonly string[]>`array(select added.tenant_id from tenant as added
  where added.owner_user_id = token.user_id and added.owner_issuer = 'site:' || token.tenant_id and added.status <> 'closed'
  order by added.created_at, added.tenant_id limit ${text.lit(MAX_TENANTS)})`.as('addedTenants');

const tokens = tables
  .selectFrom('owner_token as token')
  .innerJoin('tenant', 'tenant.tenantId', 'token.tenantId')
  .select(['token.tokenId', 'token.userId', 'token.expiresAt', 'token.revokedAt', 'token.tokenHash'])
  .select(['tenant.tenantId', 'tenant.status', ADDED_TENANTS]);

const tokenByHash = statement<{ readonly tokenHashes: readonly Buffer[] }>()((place) =>
  tokens.where('token.tokenHash', '=', anyOf(place('tokenHashes'))),
);

const tokenById = statement<{ readonly tokenId: string }>()((place) => tokens.where('token.tokenId', '=', place('tokenId')));

/**
 * The token with one of these hashes, which of them it was, and its site; null when none was ever issued. Expired and revoked ones are
 * returned: the caller decides.
 */
export async function findOwnerToken(
  sql: Sql,
  tokenHashes: readonly Buffer[],
): Promise<(OwnerTokenState & { readonly tokenHash: Buffer }) | null> {
  const [row] = await tokenByHash(sql, { tokenHashes });
  return row ?? null;
}

/** The token of this id and its site, expired and revoked ones too; null when none was ever issued. */
export async function findOwnerTokenById(sql: Sql, tokenId: string): Promise<OwnerTokenState | null> {
  const [row] = await tokenById(sql, { tokenId });
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
  const [row] = await run(sql, tables.insertInto('owner_token').values(token).returning('tokenId'));
  return String(row?.tokenId);
}

const tokensOf = statement<{ tenantId: string }>()((place) =>
  tables
    .selectFrom('owner_token')
    .select(['tokenId', 'userId', 'last4', 'createdAt', 'expiresAt', 'revokedAt'])
    .where('tenantId', '=', place('tenantId'))
    .orderBy('createdAt', 'desc')
    .orderBy('tokenId'),
);

/** A token as an operator sees it. */
export type ListedOwnerToken = Readonly<Awaited<ReturnType<typeof tokensOf>>[number]>;

/** Every token of a site's owners, the newest first. */
export async function listOwnerTokenRows(sql: Sql, tenantId: string): Promise<ListedOwnerToken[]> {
  return tokensOf(sql, { tenantId });
}

/** Revokes a token from the next call on; false when the site has no such token. Again: keeps the first time. */
export async function markOwnerTokenRevoked(sql: Sql, tenantId: string, tokenId: string, at: Date): Promise<boolean> {
  const rows = await run(
    sql,
    tables
      .updateTable('owner_token')
      .set({ revokedAt: ({ fn, val }) => fn.coalesce('revokedAt', val(at)) })
      .where('tenantId', '=', tenantId)
      .where('tokenId', '=', tokenId)
      .returning('tokenId'),
  );
  return rows.length > 0;
}

/** The user who owns a site, and of which issuer; null for what is not known, or when there is no such site. */
export async function findOwner(
  sql: Sql,
  tenantId: string,
): Promise<{ readonly userId: string | null; readonly issuer: string | null }> {
  const owner = tables.selectFrom('tenant').select(['ownerUserId as userId', 'ownerIssuer as issuer']);
  const [row] = await run(sql, owner.where('tenantId', '=', tenantId));
  return row ?? { userId: null, issuer: null };
}

/** Makes a user the owner of a site, issuer null for one not known yet; false when there is no such site. Sign-in follows in the next call. */
export async function setOwner(
  sql: Sql,
  tenantId: string,
  owner: { readonly userId: string; readonly issuer: string | null },
  at: Date,
): Promise<boolean> {
  return changeTenant(sql, tenantId, { ownerUserId: owner.userId, ownerIssuer: owner.issuer }, at);
}
