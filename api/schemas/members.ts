import { z } from 'zod';

const AuthorMember = z
  .object({
    tenantId: z.string(),
    authorId: z.string(),
    email: z.string(),
    userId: z.string().nullable(),
    accepted: z.boolean(),
    inviteToken: z.string().nullable().meta({ description: 'Only while the invitation is open: seven days, until accepted.' }),
  })
  .meta({ id: 'AuthorMember' });

/** Body of GET /_svc/members. */
export const MembersRoster = z
  .object({ org: z.string().nullable(), authors: z.array(AuthorMember) })
  .meta({ id: 'MembersRoster' });

/** Body of POST /_svc/members/accept. */
export const AcceptInvitationBody = z
  .object(
    { inviteToken: z.string('must be text').regex(/^[A-Za-z0-9_-]{43}$/, 'must be the 43 characters of the e-mail') },
    'must be an object',
  )
  .meta({ id: 'AcceptInvitationBody' });

/** 200 of POST /_svc/members/accept. */
export const AcceptedInvitation = z
  .object({ accepted: z.literal(true), tenantId: z.string(), authorId: z.string() })
  .meta({ id: 'AcceptedInvitation' });
