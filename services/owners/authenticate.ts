import type { OidcVerifier } from '../../adapters/oidc.ts';
import type { Sql } from '../../db/database.ts';
import { findOwnerToken, listOwnedSites } from '../../db/owners.ts';
import type { Actor } from '../../domain/auditEntry.ts';
import { ServiceError } from '../../domain/errors.ts';
import { isWellFormedToken } from '../keys.ts';
import { atDatabase } from '../outage.ts';
import type { Pepper } from '../pepper.ts';
import { hashCredential, hashesOf } from '../pepper.ts';
import type { Rehash } from '../rehash.ts';

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
}

/** An owner who was let in. */
export interface Owner extends Actor {
  readonly via: 'oidc' | 'token';
  /** The sites this credential covers, none of them closed: every site of the user, or the one site of the token. */
  readonly tenantIds: readonly string[];
}

const PREFIX = 'svc_owner_';

/**
 * Lets an owner in, by a token of `bin/admin` or by a JWT of the identity provider whose subject, at this issuer, owns a site. Read from Postgres in
 * this call: a revoked token, and a site given to somebody else, are gone in the very next one. Owners of a suspended site are
 * let in, and may read; its plan does not matter. Throws missing_credential; unknown_credential for anything that is not an open
 * site's owner, always with the same sentence; identity_unavailable when the provider's keys cannot be had; database_unavailable.
 */
export async function authenticateOwner(deps: OwnerDeps, bearer: string | null): Promise<Owner> {
  if (bearer === null || bearer === '') {
    throw new ServiceError('missing_credential', "an owner's token is needed: Authorization: Bearer <token>");
  }
  const owner = bearer.startsWith(PREFIX) ? await ownerOfToken(deps, bearer) : await ownerOfSubject(deps, bearer);
  if (owner === null) throw new ServiceError('unknown_credential', "the owner's token is not recognised");
  return owner;
}

/** True for text that can only be meant as an owner's credential, and not as a publisher key: which door to knock at. */
export function isOwnerCredential(bearer: string): boolean {
  return bearer.startsWith(PREFIX) || bearer.split('.').length === 3;
}

async function ownerOfToken(deps: OwnerDeps, bearer: string): Promise<Owner | null> {
  if (!isWellFormedToken(bearer, PREFIX)) return null;
  const hash = hashCredential(deps.pepper, bearer);
  const token = await atDatabase(() => findOwnerToken(deps.database, hashesOf(hash)));
  if (token) deps.rehash?.note('owner_token', token.tokenHash, hash);
  if (token === null || token.revokedAt !== null || token.status === 'closed') return null;
  if (token.expiresAt !== null && deps.clock() >= token.expiresAt.getTime()) return null;
  return { userId: token.userId, via: 'token', tenantIds: [token.tenantId] };
}

async function ownerOfSubject(deps: OwnerDeps, bearer: string): Promise<Owner | null> {
  const { oidc } = deps;
  const userId = (await oidc?.subjectOf(bearer)) ?? null;
  if (oidc === null || userId === null) return null;
  const tenantIds = await atDatabase(() => listOwnedSites(deps.database, { issuer: oidc.issuer, userId }));
  return tenantIds.length === 0 ? null : { userId, via: 'oidc', tenantIds };
}
