import { acceptInvitation } from '../../../modules/identity/use/members.ts';
import { INVITATION_PAGE } from '../../linkPages.ts';
import type { PublicRoute } from '../../route.ts';
import { AcceptedInvitation, AcceptInvitationBody } from '../../schemas/members.ts';
import { parseWith } from '../../schemas/parse.ts';
import { ErrorBody } from '../../schemas/shared.ts';
import { jsonResponse } from '../responses.ts';

const PATH = '/_svc/members/accept';

/** POST /_svc/members/accept: an invited author accepts; the token is all the credential there is. */
export const acceptInvitationRoute: PublicRoute = {
  method: 'post',
  path: PATH,
  access: 'public',
  cost: 'heavy',
  bodyLimitBytes: 1_024,
  operation: {
    operationId: 'acceptInvitation',
    tags: ['Members'],
    summary: 'Accept an invitation to a roster',
    description: 'The token is in the e-mail to the author and is valid once.',
    security: [],
    requestBody: { required: true, content: { 'application/json': { schema: AcceptInvitationBody } } },
    responses: {
      '200': jsonResponse('Accepted', AcceptedInvitation),
      '400': jsonResponse('No invitation token', ErrorBody),
      '404': jsonResponse('Unknown, used, replaced or expired', ErrorBody),
      '503': jsonResponse('Not possible now; see Retry-After', ErrorBody),
    },
  },
  handle: async ({ deps, body }) => {
    const { inviteToken } = parseWith(AcceptInvitationBody, body);
    const { tenantId, authorId } = await acceptInvitation(deps, { inviteToken, userId: null });
    return { status: 200, headers: { 'cache-control': 'no-store' }, body: { accepted: true, tenantId, authorId } };
  },
};

/** GET /_svc/members/accept: the page that the e-mail leads to. The same bytes for everybody. */
export const invitationPageRoute: PublicRoute = {
  method: 'get',
  path: PATH,
  access: 'public',
  handle: () => Promise.resolve({ status: 200, headers: INVITATION_PAGE.headers, body: INVITATION_PAGE.page }),
};
