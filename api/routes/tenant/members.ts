import { listMembers } from '../../../modules/identity/use/members.ts';
import type { KeyRoute } from '../../route.ts';
import { MembersRoster } from '../../schemas/members.ts';
import { jsonResponse, keyErrors } from '../responses.ts';

/** GET /_svc/members: the authors of the site, with the invitations that are open. */
export const membersRoute: KeyRoute = {
  method: 'get',
  path: '/_svc/members',
  access: { scope: 'member.read', freshness: 'now' },
  operation: {
    operationId: 'listMembers',
    tags: ['Members'],
    summary: 'The author roster',
    security: [{ publisherKey: [] }],
    responses: { '200': jsonResponse('The roster', MembersRoster), ...keyErrors() },
  },
  handle: async ({ deps, caller }) => {
    const headers = { 'cache-control': 'private, no-store' };
    return { status: 200, headers, body: await listMembers(deps, caller.tenant.tenantId) };
  },
};
