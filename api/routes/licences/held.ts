import { listHeldLicences } from '../../../modules/licences/use/held.ts';
import type { AccountRoute } from '../../route.ts';
import { HeldLicences } from '../../schemas/licences.ts';
import { AuthenticateError, ErrorBody } from '../../schemas/shared.ts';
import { jsonResponse } from '../responses.ts';

/** GET /_svc/licenses/held: the caller's licences, newest first. */
export const licencesHeldRoute: AccountRoute = {
  method: 'get',
  path: '/_svc/licenses/held',
  access: 'account',
  isForPages: true,
  operation: {
    operationId: 'listHeldLicences',
    tags: ['Licences'],
    summary: 'Licences of the account',
    security: [{ buyerAccount: [] }, { signInWithX: [] }],
    responses: {
      '200': jsonResponse('Newest first', HeldLicences),
      '401': jsonResponse('Authenticate first', AuthenticateError),
      '503': jsonResponse('Not possible now; see Retry-After', ErrorBody),
    },
  },
  handle: async ({ deps, account }) => ({
    status: 200,
    headers: { 'cache-control': 'private, no-store' },
    body: { licences: await listHeldLicences(deps, account.accountId) },
  }),
};
