import { z } from 'zod';
import { openAccess } from '../../../modules/storefront/use/licences/access.ts';
import type { AccountRoute } from '../../route.ts';
import { AccessBody, AccessToken } from '../../schemas/licences.ts';
import { parseWith } from '../../schemas/parse.ts';
import { AuthenticateError, ErrorBody } from '../../schemas/shared.ts';
import { hostOf } from '../requestHost.ts';
import { jsonResponse } from '../responses.ts';

/** POST /_svc/licenses/{jti}/access: a short token under a held licence. */
export const licencesAccessRoute: AccountRoute = {
  method: 'post',
  path: '/_svc/licenses/:jti/access',
  access: 'account',
  cost: 'heavy',
  isForPages: true,
  bodyLimitBytes: 65_536,
  bodyType: 'optional',
  operation: {
    operationId: 'openLicenceAccess',
    tags: ['Licences'],
    summary: 'Mint an access token',
    security: [{ buyerAccount: [] }, { signInWithX: [] }],
    requestParams: { path: z.object({ jti: z.string() }) },
    requestBody: { required: false, content: { 'application/json': { schema: AccessBody } } },
    responses: {
      '200': jsonResponse('A short-lived token over the pages covered', AccessToken),
      '400': jsonResponse('Malformed paths', ErrorBody),
      '401': jsonResponse('Authenticate first', AuthenticateError),
      '403': jsonResponse('The period is over or has not begun', ErrorBody),
      '404': jsonResponse('No such licence for this account on this site', ErrorBody),
      '409': jsonResponse('Paths outside the licence', ErrorBody),
      '503': jsonResponse('No token can be minted now; see Retry-After', ErrorBody),
    },
  },
  handle: async ({ deps, account, params, body, header }) => {
    const { paths, holder, host } = parseWith(AccessBody, body ?? {});
    const token = await openAccess(deps, {
      accountId: account.accountId,
      jti: params['jti'] ?? '',
      requestHost: hostOf(header('host')),
      ...(paths === undefined ? {} : { paths }),
      ...(holder === undefined ? {} : { holder }),
      ...(host === undefined ? {} : { host }),
    });
    return { status: 200, headers: { 'cache-control': 'private, no-store' }, body: token };
  },
};
