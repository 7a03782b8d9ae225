import { z } from 'zod';
import {
  eraseSiteMember,
  inviteSiteMember,
  removeSiteMember,
  revokeSiteInvitation,
} from '../../modules/identity/use/manageMembers.ts';
import { builder } from '../schema/builder.ts';
import { MemberType } from '../types/account.ts';
import { line, ownerMutation, TENANT_ID } from './field.ts';

const MAX_AUTHOR_CHARS = 200;

const InviteMemberPayload = builder
  .objectRef<{ readonly authorId: string; readonly inviteToken: string; readonly expiresAtMs: number }>('InviteMemberPayload')
  .implement({
    description: 'An invitation to hand to the author.',
    fields: (t) => ({
      authorId: t.exposeID('authorId', { description: 'The author.' }),
      inviteToken: t.exposeString('inviteToken', {
        description: 'Used once, at `POST /_svc/members/accept`, by anyone who holds it. It is in the e-mail to the author.',
      }),
      expiresAt: t.field({ type: 'EpochMs', description: 'When it ends.', resolve: ({ expiresAtMs }) => expiresAtMs }),
    }),
  });

ownerMutation('inviteMember', {
  description:
    'Invites an author to the roster by e-mail; again before it was accepted: a new invitation, the old one ends. At most three a day to an address.',
  input: builder.inputType('InviteMemberInput', {
    description: 'An author to invite.',
    fields: (t) => ({
      tenantId: t.id(TENANT_ID),
      authorId: t.string({ required: true, description: 'As the credits name the author.' }),
      email: t.string({ required: true, description: "The author's e-mail address; one author an address." }),
    }),
  }),
  schema: z.object({ authorId: line(MAX_AUTHOR_CHARS), email: line(254) }),
  payload: InviteMemberPayload,
  changed: { field: 'member', type: MemberType, idOf: ({ authorId }) => authorId },
  change: async (deps, call, { authorId, email }) => ({
    authorId,
    ...(await inviteSiteMember({ ...deps, mail: deps }, call, { authorId, email })),
  }),
});

const RevokeInvitationPayload = builder.objectRef<{ readonly authorId: string }>('RevokeInvitationPayload').implement({
  description: 'An author who is not invited any more.',
  fields: (t) => ({ authorId: t.exposeID('authorId', { description: 'The author.' }) }),
});

ownerMutation('revokeInvitation', {
  description: 'Takes back an invitation that was not accepted; its token ends.',
  input: builder.inputType('RevokeInvitationInput', {
    description: 'An invitation to take back.',
    fields: (t) => ({ tenantId: t.id(TENANT_ID), authorId: t.string({ required: true, description: 'The author.' }) }),
  }),
  schema: z.object({ authorId: line(MAX_AUTHOR_CHARS) }),
  payload: RevokeInvitationPayload,
  deleted: { type: MemberType, idOf: ({ authorId }) => authorId },
  change: async (deps, call, { authorId }) => {
    await revokeSiteInvitation(deps, call, authorId);
    return { authorId };
  },
});

const RemoveMemberPayload = builder.objectRef<{ readonly authorId: string }>('RemoveMemberPayload').implement({
  description: 'An author who is not on the roster any more.',
  fields: (t) => ({ authorId: t.exposeID('authorId', { description: 'The author.' }) }),
});

ownerMutation('removeMember', {
  description: 'Removes an author from the roster, accepted or not. Credits and earnings stay as they are.',
  input: builder.inputType('RemoveMemberInput', {
    description: 'An author to remove.',
    fields: (t) => ({ tenantId: t.id(TENANT_ID), authorId: t.string({ required: true, description: 'The author.' }) }),
  }),
  schema: z.object({ authorId: line(MAX_AUTHOR_CHARS) }),
  payload: RemoveMemberPayload,
  deleted: { type: MemberType, idOf: ({ authorId }) => authorId },
  change: async (deps, call, { authorId }) => {
    await removeSiteMember(deps, call, authorId);
    return { authorId };
  },
});

const EraseMemberPayload = builder.objectRef<{ readonly authorId: string }>('EraseMemberPayload').implement({
  description: 'An author of whom the site no longer says who it was.',
  fields: (t) => ({ authorId: t.exposeID('authorId', { description: 'The author.' }) }),
});

ownerMutation('eraseMember', {
  description:
    'Erases who an author is: roster, invitations and the audit log of members no longer hold it; the address for alerts stays. Also after the author was removed; earnings stay.',
  input: builder.inputType('EraseMemberInput', {
    description: 'An author to erase.',
    fields: (t) => ({ tenantId: t.id(TENANT_ID), authorId: t.string({ required: true, description: 'The author.' }) }),
  }),
  schema: z.object({ authorId: line(MAX_AUTHOR_CHARS) }),
  payload: EraseMemberPayload,
  deleted: { type: MemberType, idOf: ({ authorId }) => authorId },
  change: async (deps, call, { authorId }) => {
    await eraseSiteMember(deps, call, authorId);
    return { authorId };
  },
});
