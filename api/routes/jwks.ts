import { answerTagged } from '../etag.ts';
import type { PublicRoute } from '../route.ts';
import { JsonWebKeySet } from '../schemas/license.ts';
import { jsonResponse } from './responses.ts';

/** GET /.well-known/jwks.json: the keys licences are signed with, the next one included (RFC 7517). */
export const jwksRoute: PublicRoute = {
  method: 'get',
  path: '/.well-known/jwks.json',
  access: 'public',
  isForPages: true,
  operation: {
    operationId: 'getJwks',
    tags: ['Licences'],
    summary: 'Keys that sign licences',
    security: [],
    responses: {
      '200': jsonResponse('The public key set', JsonWebKeySet),
      '304': { description: 'The key set is what If-None-Match names' },
    },
  },
  handle: async ({ deps, header }) => answerTagged(header, JSON.stringify(deps.keyring.jwks()), 'public, max-age=300'),
};
