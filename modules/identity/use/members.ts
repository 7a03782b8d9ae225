import { createHmac, randomUUID } from 'node:crypto';
import type { Database, Transactional } from '../../../db/database.ts';
import type { Pepper } from '../../../platform/tokens/pepper.ts';
import { hashCredential, hashesOf } from '../../../platform/tokens/pepper.ts';
import { readEmail } from '../../kernel/access/emailAddress.ts';
import { ServiceError } from '../../kernel/errors.ts';
import { hasControlCharacter } from '../../kernel/hosts/host.ts';
import { insertAuditEntry } from '../../tenants/store/auditLog.ts';
import { findRoster, saveInvitation, useInvitation } from '../store/members.ts';

/** What members need; invitations are derived under the pepper, so that the database alone gives none away. */
export interface MemberDeps {
  readonly database: Database;
  readonly pepper: Pepper;
  /** Epoch milliseconds. */
  readonly clock: () => number;
}

/** One author as the roster shows it. */
export interface AuthorMember {
  readonly tenantId: string;
  readonly authorId: string;
  readonly email: string;
  readonly userId: string | null;
  readonly accepted: boolean;
  /** Only while the author has not accepted and the invitation lives. */
  readonly inviteToken: string | null;
}

/** An invitation lives this long. */
const INVITE_LIFE_MS = 7 * 24 * 3_600_000;

/** The roster of a site; `org` is the account that owns it. Throws not_found, database_unavailable. */
export async function listMembers(
  deps: MemberDeps,
  tenantId: string,
): Promise<{ readonly org: string | null; readonly authors: readonly AuthorMember[] }> {
  const roster = await findRoster(deps.database, tenantId);
  if (!roster) throw new ServiceError('not_found', 'there is no such site');
  const nowMs = deps.clock();
  const authors = roster.members.map(({ authorId, email, userId, acceptedAt, inviteId, inviteExpiresAt, tokenHash }) => {
    const accepted = acceptedAt !== null;
    const isOpen = !accepted && inviteExpiresAt.getTime() > nowMs;
    return { tenantId, authorId, email, userId, accepted, inviteToken: isOpen ? openToken(deps, inviteId, tokenHash) : null };
  });
  return { org: roster.owner, authors };
}

/**
 * Invites an author: a token of 32 bytes, seven days, single use. Again before it was accepted: a new token, the old one ends.
 * Throws invalid_parameter, not_found, and conflict when the author has accepted or the e-mail is another author's.
 */
export async function inviteMember(
  deps: Omit<MemberDeps, 'database'> & { readonly database: Transactional },
  request: { readonly tenantId: string; readonly authorId: string; readonly email: string },
): Promise<{ readonly inviteToken: string; readonly expiresAtMs: number }> {
  const { tenantId, authorId } = request;
  const email = readEmail(request.email).address;
  if (authorId === '' || authorId.length > 200 || hasControlCharacter(authorId)) {
    throw new ServiceError('invalid_parameter', 'authorId must be 1 to 200 characters', { parameter: 'authorId' });
  }
  const inviteId = randomUUID();
  const token = inviteToken(deps.pepper.current, inviteId);
  const expiresAtMs = deps.clock() + INVITE_LIFE_MS;
  const row = { tenantId, authorId, email, inviteId, inviteExpiresAt: new Date(expiresAtMs) };
  const { current: tokenHash, pepperId } = hashCredential(deps.pepper, token);
  const saved = await saveInvitation(deps.database, { ...row, tokenHash, pepperId }).catch((error: unknown) => {
    const { code } = error as { code?: unknown };
    if (code === '23505') throw new ServiceError('conflict', 'another author of this site has this e-mail address');
    if (code === '23503') throw new ServiceError('not_found', 'there is no such site');
    throw error;
  });
  if (!saved) throw new ServiceError('conflict', 'this author has already accepted');
  return { inviteToken: token, expiresAtMs };
}

/**
 * Accepts an invitation: the bearer of its token is the author it was sent to. The audit log of the site says so. Throws not_found when it
 * is unknown, used before, replaced or expired.
 */
export async function acceptInvitation(
  deps: MemberDeps,
  request: { readonly inviteToken: string; readonly userId: string | null },
): Promise<{ readonly tenantId: string; readonly authorId: string }> {
  const hashes = hashesOf(hashCredential(deps.pepper, request.inviteToken));
  const member = await deps.database.transaction(async (sql) => {
    const found = await useInvitation(sql, hashes, request.userId, new Date(deps.clock()));
    if (found) {
      const { tenantId, authorId } = found;
      const actor = { userId: request.userId ?? authorId, via: 'invitation' } as const;
      const entry = {
        tenantId,
        actor,
        action: 'member.accept',
        target: authorId,
        before: { accepted: false },
        after: { accepted: true },
      };
      await insertAuditEntry(sql, entry);
    }
    return found;
  });
  if (!member) throw new ServiceError('not_found', 'this invitation was used, revoked, or has expired');
  return member;
}

/** 32 bytes that only the holder of the pepper can make of an invitation's id. */
function inviteToken(pepper: string, inviteId: string): string {
  return createHmac('sha256', pepper).update(`invitation ${inviteId}`).digest('base64url');
}

/** The token whose hash is stored: made under the present pepper, or under the one before; null when under neither. */
function openToken({ pepper }: Pick<MemberDeps, 'pepper'>, inviteId: string, tokenHash: Buffer | null): string | null {
  const peppers = pepper.previous === null ? [pepper.current] : [pepper.current, pepper.previous];
  const tokens = peppers.map((one) => inviteToken(one, inviteId));
  return tokens.find((token) => hashesOf(hashCredential(pepper, token)).some((hash) => tokenHash?.equals(hash))) ?? null;
}
