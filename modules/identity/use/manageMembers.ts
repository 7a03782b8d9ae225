import type { Database } from '../../../db/database.ts';
import type { Pepper } from '../../../platform/tokens/pepper.ts';
import { ServiceError } from '../../kernel/errors.ts';
import { eraseMemberRows } from '../../tenants/store/erasure.ts';
import type { SiteCall } from '../../tenants/use/change.ts';
import { changeSite } from '../../tenants/use/change.ts';
import { findMember, removeMemberRow, revokeInvitationRow } from '../store/members.ts';
import type { InvitationMailDeps } from './invitationMail.ts';
import { mailInvitation } from './invitationMail.ts';
import { inviteMember } from './members.ts';

/** What managing a site's authors needs. */
export interface SiteMemberDeps {
  readonly database: Database;
  readonly pepper: Pepper;
  /** Epoch milliseconds. */
  readonly clock: () => number;
}

/** What inviting needs. */
export interface InviteDeps extends SiteMemberDeps {
  /** Null: no e-mail is written, and the token is handed over by the owner who invites. */
  readonly mail: InvitationMailDeps | null;
}

/**
 * Invites an author, by an e-mail where a mail server is configured; the token may be handed over as well. Again before it was accepted:
 * a new token, the old one ends. Throws invalid_parameter, conflict, throttled, and what `changeSite` throws.
 */
export async function inviteSiteMember(
  deps: InviteDeps,
  call: SiteCall,
  request: { readonly authorId: string; readonly email: string },
): Promise<{ readonly inviteToken: string; readonly expiresAtMs: number }> {
  const { tenantId } = call;
  return await changeSite(deps, call, {
    action: 'member.invite',
    target: request.authorId,
    look: (sql) => findMember(sql, tenantId, request.authorId),
    make: async (database) => {
      const invited = await inviteMember({ ...deps, database }, { tenantId, ...request });
      const { mail, pepper } = deps;
      if (mail)
        await database.transaction((sql) =>
          mailInvitation({ ...mail, pepper }, sql, { tenantId, email: request.email, ...invited }),
        );
      return invited;
    },
  });
}

/**
 * Takes back an invitation that was not accepted: its token ends and the author leaves the roster. Throws not_found, also when
 * there is none or it was taken back before; conflict when the author has accepted.
 */
export async function revokeSiteInvitation(
  deps: Pick<SiteMemberDeps, 'database'>,
  call: SiteCall,
  authorId: string,
): Promise<void> {
  const { tenantId } = call;
  await changeSite(deps, call, {
    action: 'member.revoke_invite',
    target: authorId,
    look: (sql) => findMember(sql, tenantId, authorId),
    make: async (database) => {
      const outcome = await revokeInvitationRow(database, tenantId, authorId);
      if (outcome === 'none') throw new ServiceError('not_found', 'no such author has been invited');
      if (outcome === 'accepted') throw new ServiceError('conflict', 'this author has accepted: remove the member instead');
    },
  });
}

/** Removes an author from the roster, accepted or not; what was earned stays theirs. Throws not_found, on a second call too. */
export async function removeSiteMember(deps: Pick<SiteMemberDeps, 'database'>, call: SiteCall, authorId: string): Promise<void> {
  const { tenantId } = call;
  await changeSite(deps, call, {
    action: 'member.remove',
    target: authorId,
    look: (sql) => findMember(sql, tenantId, authorId),
    make: async (database) => {
      if (!(await removeMemberRow(database, tenantId, authorId))) throw new ServiceError('not_found', 'no such author');
    },
  });
}

/**
 * Erases an author: the roster, e-mailed invitations and the audit log's entries about members say no longer who it was. The address of the
 * site's alerts stays, and its entries, so that nobody moves alerts and hides it. What was earned stays, by wallet and author id. Also
 * after the author was removed; again: nothing is left to erase, and the log says that it was asked for. Throws what `changeSite` throws.
 */
export async function eraseSiteMember(
  deps: Pick<SiteMemberDeps, 'database'>,
  call: SiteCall,
  authorId: string,
): Promise<{ readonly erased: boolean }> {
  return await changeSite(deps, call, {
    action: 'member.erase',
    target: authorId,
    look: async () => null,
    make: async (database) => ({ erased: await eraseMemberRows(database, call.tenantId, authorId) }),
  });
}
