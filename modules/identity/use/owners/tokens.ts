import type { Database, Sql } from '../../../../db/database.ts';
import type { Pepper } from '../../../../platform/tokens/pepper.ts';
import { hashCredential } from '../../../../platform/tokens/pepper.ts';
import { ServiceError } from '../../../kernel/errors.ts';
import { hasControlCharacter } from '../../../kernel/hosts/host.ts';
import type { ListedOwnerToken } from '../../../tenants/store/owners.ts';
import {
  findOwner,
  insertOwnerToken,
  listOwnerTokenRows,
  markOwnerTokenRevoked,
  setOwner,
} from '../../../tenants/store/owners.ts';
import type { SiteCall } from '../../../tenants/use/change.ts';
import { changeSite } from '../../../tenants/use/change.ts';
import { generateToken } from '../keys/keys.ts';

/** What the operator's commands about owners need. */
interface OwnerAdminDeps {
  readonly database: Database;
}

const MAX_USER_CHARS = 255;

/** Issues a token of a site's owner (`svc_owner_…`), returned this once. Throws not_found; every call issues another one. */
export async function issueOwnerToken(
  deps: OwnerAdminDeps & { readonly pepper: Pepper },
  call: SiteCall,
  request: { readonly userId: string; readonly expiresAtMs?: number },
): Promise<{ readonly token: string; readonly tokenId: string }> {
  const { userId } = request;
  return await changeSite(deps, call, {
    action: 'owner.issue_token',
    target: ({ tokenId }) => tokenId,
    look: async (_sql, issued) => (issued === undefined ? null : { userId, last4: issued.token.slice(-4) }),
    make: (sql) => createOwnerToken({ database: sql, pepper: deps.pepper }, { tenantId: call.tenantId, ...request }),
  });
}

/** The tokens of a site's owners, without their secrets, the newest first. */
export function listOwnerTokens(deps: OwnerAdminDeps, tenantId: string): Promise<readonly ListedOwnerToken[]> {
  return listOwnerTokenRows(deps.database, tenantId);
}

/** Revokes a token of a site's owner from the very next call on. Throws not_found; a second call changes nothing. */
export async function revokeOwnerToken(deps: OwnerAdminDeps, call: SiteCall, tokenId: string): Promise<void> {
  const { tenantId } = call;
  await changeSite(deps, call, {
    action: 'owner.revoke_token',
    target: tokenId,
    look: async (sql) => {
      const token = (await listOwnerTokenRows(sql, tenantId)).find((one) => one.tokenId === tokenId.toLowerCase());
      return token === undefined ? null : { userId: token.userId, last4: token.last4, revokedAt: token.revokedAt };
    },
    make: async (sql) => {
      if (await markOwnerTokenRevoked(sql, tenantId, tokenId, new Date())) return;
      throw new ServiceError('not_found', 'this site has no such owner token');
    },
  });
}

/**
 * Makes a user of an identity provider (issuer null: of the one the service runs with) the owner of a site, from that user's next call on;
 * the owner before is none any more. Tokens of `bin/admin` stay: revoke them. Throws invalid_parameter, not_found; a second call changes nothing.
 */
export async function setSiteOwner(
  deps: OwnerAdminDeps,
  call: SiteCall,
  { userId, issuer }: { readonly userId: string; readonly issuer: string | null },
): Promise<void> {
  const { tenantId } = call;
  if (userId === '' || userId.length > MAX_USER_CHARS || hasControlCharacter(userId)) {
    throw new ServiceError('invalid_parameter', `a user id must be 1 to ${MAX_USER_CHARS} characters`, { parameter: 'user' });
  }
  await changeSite(deps, call, {
    action: 'owner.set',
    target: null,
    look: (sql) => findOwner(sql, tenantId),
    make: async (sql) => {
      await setOwner(sql, tenantId, { userId, issuer }, new Date());
    },
  });
}

/** Issues a token of a site's owner (`svc_owner_…`); it is returned this once. */
export async function createOwnerToken(
  deps: { readonly database: Sql; readonly pepper: Pepper },
  request: { readonly tenantId: string; readonly userId: string; readonly expiresAtMs?: number },
): Promise<{ readonly token: string; readonly tokenId: string }> {
  const token = generateToken('svc_owner_');
  const { tenantId, userId, expiresAtMs } = request;
  const expiresAt = expiresAtMs === undefined ? null : new Date(expiresAtMs);
  const { current: tokenHash, pepperId } = hashCredential(deps.pepper, token);
  const row = { tenantId, userId, tokenHash, pepperId, last4: token.slice(-4), expiresAt };
  const tokenId = await insertOwnerToken(deps.database, row);
  return { token, tokenId };
}
