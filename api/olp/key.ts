import { z } from 'zod';
import { oauthAnswer } from '../errors.ts';
import type { PublicRoute } from '../route.ts';
import { jsonResponse } from '../routes/responses.ts';
import { OauthError } from '../schemas/accounts.ts';
import { ErrorBody } from '../schemas/shared.ts';

/** POST /_svc/olp/key: keys of encrypted assets. None of our documents names one, so that none is ever to be had. */
export const olpKeyRoute: PublicRoute = {
  method: 'post',
  path: '/_svc/olp/key',
  access: 'public',
  bodyLimitBytes: 16_384,
  bodyType: 'form',
  operation: {
    operationId: 'getContentKey',
    tags: ['Licences'],
    summary: 'Keys of encrypted assets: there are none (RSL 1.0, EMS)',
    security: [],
    requestBody: { required: false, content: { 'application/x-www-form-urlencoded': { schema: z.looseObject({}) } } },
    responses: { '400': jsonResponse('Always: nothing is encrypted here', OauthError.or(ErrorBody)) },
  },
  handle: async ({ deps }) => oauthAnswer(deps.baseUrl, 'invalid_request', 'this server encrypts nothing and has no keys'),
};
