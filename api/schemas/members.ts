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
