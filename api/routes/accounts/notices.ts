import { listAccountNotices } from '../../../modules/licences/use/notices.ts';
import type { AccountRoute } from '../../route.ts';
import { AccountNotices } from '../../schemas/accounts.ts';
import { AuthenticateError, ErrorBody } from '../../schemas/shared.ts';
import { jsonResponse } from '../responses.ts';

/** GET /_svc/accounts/notices: what came of the caller's purchases, for those that were decided after their request was over. */
export const accountNoticesRoute: AccountRoute = {
  method: 'get',
  path: '/_svc/accounts/notices',
  access: 'account',
  isForPages: true,
  operation: {
    operationId: 'listAccountNotices',
    tags: ['Accounts'],
    summary: 'Outcomes of purchases',
    security: [{ buyerAccount: [] }, { signInWithX: [] }],
    responses: {
      '200': jsonResponse('The newest hundred, newest first', AccountNotices),
      '401': jsonResponse('Authenticate first', AuthenticateError),
      '503': jsonResponse('Not possible now; see Retry-After', ErrorBody),
    },
  },
  handle: async ({ deps, account }) => ({
    status: 200,
    headers: { 'cache-control': 'private, no-store' },
    body: { notices: await listAccountNotices(deps, account.accountId) },
  }),
};
