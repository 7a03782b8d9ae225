import { z } from 'zod';
import { registerClient } from '../../../modules/identity/use/accounts/clients.ts';
import { isServiceError } from '../../../modules/kernel/errors.ts';
import { oauthAnswer } from '../../errors.ts';
import type { PublicRoute } from '../../route.ts';
import { OauthError } from '../../schemas/accounts.ts';
import { ErrorBody, NO_CONTROLS } from '../../schemas/shared.ts';
import { jsonResponse } from '../responses.ts';
import { AUTH_METHODS, GRANT_TYPES } from './oauth.ts';

const METADATA = z
  .looseObject({
    client_name: z.exactOptional(z.string().min(1).max(200).regex(NO_CONTROLS)),
    token_endpoint_auth_method: z.exactOptional(z.enum(AUTH_METHODS)),
    jwks: z.exactOptional(z.looseObject({ keys: z.array(z.looseObject({})).max(4) })).meta({
      description: 'Public keys, with `private_key_jwt`.',
    }),
  })
  .meta({ id: 'ClientMetadata', description: 'RFC 7591. Members that mean nothing here are ignored.' });
const CLIENT = z
  .object({
    client_id: z.string(),
    client_secret: z.exactOptional(z.string()).meta({ description: 'Shown this once; none with `private_key_jwt`.' }),
    client_secret_expires_at: z.exactOptional(z.literal(0)),
    client_id_issued_at: z.int(),
    client_name: z.exactOptional(z.string()),
    token_endpoint_auth_method: z.enum(AUTH_METHODS),
    grant_types: z.array(z.string()),
  })
  .meta({ id: 'RegisteredClient' });

/** POST /_svc/oauth/register: a client of an account of its own (RFC 7591), with no right but to buy and to read what it bought. */
export const registerClientRoute: PublicRoute = {
  method: 'post',
  path: '/_svc/oauth/register',
  access: 'public',
  cost: 'account',
  bodyLimitBytes: 16_384,
  operation: {
    operationId: 'registerClient',
    tags: ['Accounts'],
    summary: 'Register a client',
    description:
      'Nothing is needed. Each call makes an account and its one client, which buys with whatever wallet signs and owns nothing else: it sets no budget ' +
      'and makes no keys.',
    security: [],
    requestBody: { required: true, content: { 'application/json': { schema: METADATA } } },
    responses: {
      '201': jsonResponse('The client', CLIENT),
      '400': jsonResponse('Metadata that cannot be taken', OauthError.or(ErrorBody)),
      '429': jsonResponse('Too many from this address; see Retry-After', ErrorBody),
      '503': jsonResponse('Not possible now; see Retry-After', ErrorBody),
    },
  },
  handle: async ({ deps, body }) => {
    const refusedAs = (sentence: string) => oauthAnswer(deps.baseUrl, 'invalid_client_metadata', sentence);
    const read = METADATA.safeParse(body);
    if (!read.success) return refusedAs(read.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join(', '));
    const { client_name: name, jwks, token_endpoint_auth_method: method = 'client_secret_basic' } = read.data;
    if ((method === 'private_key_jwt') !== (jwks !== undefined))
      return refusedAs('jwks goes with private_key_jwt, and with nothing else');
    const named = name === undefined ? {} : { client_name: name };
    try {
      const request = { ...(name === undefined ? {} : { name }), ...(jwks === undefined ? {} : { jwks }) };
      const { clientId, clientSecret } = await registerClient(deps, request);
      const secret = clientSecret === null ? {} : { client_secret: clientSecret, client_secret_expires_at: 0 };
      return {
        status: 201,
        headers: { 'cache-control': 'no-store', pragma: 'no-cache' },
        body: {
          client_id: clientId,
          ...secret,
          client_id_issued_at: Math.floor(deps.clock() / 1_000),
          ...named,
          token_endpoint_auth_method: method,
          grant_types: GRANT_TYPES,
        },
      };
    } catch (error) {
      if (isServiceError(error) && error.kind === 'invalid') return refusedAs(error.message);
      throw error;
    }
  },
};
