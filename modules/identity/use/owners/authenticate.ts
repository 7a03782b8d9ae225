import type { Sql } from '../../../../db/database.ts';
import type { OidcVerifier } from '../../../../platform/tokens/oidc.ts';
import type { Pepper } from '../../../../platform/tokens/pepper.ts';
import { hashCredential, hashesOf } from '../../../../platform/tokens/pepper.ts';
import type { Actor } from '../../../kernel/access/auditEntry.ts';
import type { Plan } from '../../../kernel/access/key.ts';
import { ServiceError } from '../../../kernel/errors.ts';
import type { OwnerName, OwnerTokenState } from '../../../tenants/store/owners.ts';
import { findOwnerToken, findOwnerTokenById, listOwnedTenants } from '../../../tenants/store/owners.ts';
import type { SessionOrigin } from '../../store/consoleSessions.ts';
import { isWellFormedToken } from '../keys/keys.ts';
import type { Rehash } from '../keys/rehash.ts';

/** How owners add sites by themselves, where they may. */
export interface SignUp {
  /** The plan of a site that was added so; below Studio its keys are refused until an operator sets another. */
  readonly plan: Plan;
  /** Most sites of one user, closed ones counted. */
  readonly sitesOfUser: number;
  /** Most sites that all users together add in 24 hours. */
  readonly sitesPerDay: number;
}

/** What letting owners in needs. */
export interface OwnerDeps {
  readonly database: Sql;
  readonly pepper: Pepper;
  /** Moves tokens found under the previous pepper. */
  readonly rehash?: Pick<Rehash, 'note'>;
  /** Epoch milliseconds. */
  readonly clock: () => number;
  /** Proves tokens of the identity provider; null where none is configured, and only tokens of `bin/admin` work. */
  readonly oidc: OidcVerifier | null;
  /** Set where owners add sites by themselves: a user of the provider who owns nothing yet is let in, to begin. */
  readonly signUp?: SignUp | null;
}

/** An owner who was let in. */
export interface Owner extends Actor {
  readonly via: 'oidc' | 'token';
  /**
   * The sites this credential covers, none of them closed: every site of the user; or the one of the token, then those that were added with
   * tokens of that site in this user's name.
   */
  readonly tenantIds: readonly string[];
  /** What let him in, by which `ownerOfOrigin` asks later whether it still would; none for work of the service itself. */
  readonly origin?: SessionOrigin;
}

/**
 * Who an owner is among all, whatever credential he shows: what is counted for one is never counted for another. A token's user is a name
 * of its site, which another site may give to somebody else, and so may the identity provider.
 */
export function ownerKey({ userId, via, tenantIds }: Owner): string {
  return via === 'token' ? `owner of ${tenantIds[0] ?? ''} ${userId}` : `owner ${userId}`;
}

const PREFIX = 'svc_owner_';

/**
 * Lets an owner in, by a token of `bin/admin` or by a JWT of the identity provider whose subject, at this issuer, owns a site. Read from Postgres in
 * this call: a revoked token, and a site given to somebody else, are gone in the very next one. Owners of a suspended site are
 * let in, and may read; its plan does not matter. Where sites are added by their owners, a user of the provider without a site is let in
 * too. Throws missing_credential; unknown_credential for anybody else who is not an open site's owner, always with the same sentence;
 * identity_unavailable when the provider's keys cannot be had; database_unavailable.
 */
export async function authenticateOwner(deps: OwnerDeps, bearer: string | null): Promise<Owner> {
  if (bearer === null || bearer === '') {
    throw new ServiceError('missing_credential', "an owner's token is needed: Authorization: Bearer <token>");
  }
  if (bearer.startsWith(PREFIX)) return (await proveToken(deps, bearer)).owner;
  return (await ownerOfJwt(deps, bearer)) ?? refuse();
}

/** The owner whose token of `bin/admin` this is, and its id, by which it is named later. Throws unknown_credential, database_unavailable. */
export async function proveToken(deps: OwnerDeps, bearer: string): Promise<{ readonly owner: Owner; readonly tokenId: string }> {
  const token = await findToken(deps, bearer);
  const owner = token && ownerOfToken(deps, token);
  return token && owner ? { owner, tokenId: token.tokenId } : refuse();
}

function refuse(): never {
  throw new ServiceError('unknown_credential', "the owner's token is not recognised");
}

/** True for text that can only be meant as an owner's credential, and not as a publisher key: which API to ask. */
export function isOwnerCredential(bearer: string): boolean {
  return bearer.startsWith(PREFIX) || bearer.split('.').length === 3;
}

async function findToken(deps: OwnerDeps, bearer: string): Promise<OwnerTokenState | null> {
  if (!isWellFormedToken(bearer, PREFIX)) return null;
  const hash = hashCredential(deps.pepper, bearer);
  const token = await findOwnerToken(deps.database, hashesOf(hash));
  if (token) deps.rehash?.note('owner_token', token.tokenHash, hash);
  return token;
}

/** Whom a token lets in, as it is now: null for one that was revoked or has ended, or whose site is closed. */
export function ownerOfToken({ clock }: Pick<OwnerDeps, 'clock'>, token: OwnerTokenState): Owner | null {
  if (token.revokedAt !== null || token.status === 'closed') return null;
  if (token.expiresAt !== null && clock() >= token.expiresAt.getTime()) return null;
  const { userId, tokenId } = token;
  const origin = { issuer: null, userId, tokenId };
  return { userId, via: 'token', tenantIds: [token.tenantId, ...token.addedTenants], origin };
}

async function ownerOfJwt(deps: OwnerDeps, bearer: string): Promise<Owner | null> {
  const { oidc } = deps;
  const userId = (await oidc?.subjectOf(bearer)) ?? null;
  return oidc === null || userId === null ? null : ownerOfUser(deps, { issuer: oidc.issuer, userId });
}

/** A user of an identity provider with his open sites, as it is now; null for one who owns none, unless he may add one. */
export async function ownerOfUser(
  { database, signUp }: Pick<OwnerDeps, 'database' | 'signUp'>,
  name: OwnerName,
): Promise<Owner | null> {
  const tenantIds = await listOwnedTenants(database, name);
  const origin = { ...name, tokenId: null };
  return tenantIds.length === 0 && !signUp ? null : { userId: name.userId, via: 'oidc', tenantIds, origin };
}

/**
 * Whom the credential of before lets in now, without being shown again: null once its token was revoked or has ended, its user owns nothing, or its
 * issuer is not the one of this service. Throws database_unavailable.
 */
export async function ownerOfOrigin(
  deps: Pick<OwnerDeps, 'database' | 'clock' | 'signUp'> & { readonly oidc: Pick<OidcVerifier, 'issuer'> | null },
  { issuer, userId, tokenId }: SessionOrigin,
): Promise<Owner | null> {
  if (tokenId === null) return issuer === deps.oidc?.issuer ? await ownerOfUser(deps, { issuer, userId }) : null;
  const token = await findOwnerTokenById(deps.database, tokenId);
  return token && ownerOfToken(deps, token);
}
