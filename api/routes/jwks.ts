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
    responses: { '200': jsonResponse('The public key set', JsonWebKeySet) },
  },
  handle: async ({ deps }) => ({
    status: 200,
    headers: { 'cache-control': 'public, max-age=300' },
    body: deps.keyring.jwks(),
  }),
};
