import { z } from 'zod';
import { grantClientToken, registrationEndpoint, tokenEndpoint } from '../../../modules/identity/use/accounts/oauth.ts';
import { oauthAnswer } from '../../errors.ts';
import type { PublicRoute } from '../../route.ts';
import { RESOURCE_METADATA_PATH } from '../../route.ts';
import { AccountToken, OauthError } from '../../schemas/accounts.ts';
import { ErrorBody } from '../../schemas/shared.ts';
import { jsonResponse } from '../responses.ts';

/** How clients show themselves. */
export const AUTH_METHODS = ['client_secret_basic', 'private_key_jwt'] as const;
/** What clients are granted. */
export const GRANT_TYPES = ['client_credentials'];

const FORM = z.looseObject({
  grant_type: z.literal('client_credentials'),
  client_assertion_type: z.exactOptional(z.string()),
  client_assertion: z.exactOptional(z.string()),
});

const RESOURCE = z.object({
  resource: z.string(),
  authorization_servers: z.array(z.string()),
  jwks_uri: z.string(),
  bearer_methods_supported: z.array(z.string()),
});

/** GET /.well-known/oauth-protected-resource/_svc/mcp: who grants tokens for the MCP endpoint (RFC 9728 §3.1), which a 401 there names. */
export const mcpResourceRoute: PublicRoute = {
  method: 'get',
  path: `${RESOURCE_METADATA_PATH}/_svc/mcp`,
  access: 'public',
  isForPages: true,
  operation: {
    operationId: 'getMcpResourceMetadata',
    tags: ['Accounts'],
    summary: 'Protected resource metadata of the MCP endpoint',
    security: [],
    responses: { '200': jsonResponse('RFC 9728', RESOURCE) },
  },
  handle: async ({ deps }) => ({
    status: 200,
    headers: { 'cache-control': 'public, max-age=300' },
    body: {
      resource: `${deps.baseUrl}/_svc/mcp`,
      authorization_servers: [deps.baseUrl],
      jwks_uri: `${deps.baseUrl}/.well-known/jwks.json`,
      bearer_methods_supported: ['header'],
    },
  }),
};

/** POST /_svc/oauth/token: client credentials (RFC 6749 §4.4), by secret or by a signed assertion (RFC 7523). */
export const oauthTokenRoute: PublicRoute = {
  method: 'post',
  path: '/_svc/oauth/token',
  access: 'public',
  cost: 'heavy',
  bodyLimitBytes: 16_384,
  bodyType: 'form',
  operation: {
    operationId: 'getClientToken',
    tags: ['Accounts'],
    summary: 'Client credentials grant',
    security: [],
    requestBody: { required: true, content: { 'application/x-www-form-urlencoded': { schema: FORM } } },
    responses: {
      '200': jsonResponse('A bearer token of the client’s account', AccountToken),
      '400': jsonResponse('Malformed request', OauthError.or(ErrorBody)),
      '401': jsonResponse('The client is not recognised', OauthError),
      '503': jsonResponse('Not possible now; see Retry-After', ErrorBody),
    },
  },
  handle: async ({ deps, body, header }) => {
    const form = body as ReadonlyMap<string, string>;
    const answer = await grantClientToken(deps, { form, authorization: header('authorization') });
    if (answer.kind === 'token') {
      const token = { access_token: answer.token, token_type: 'Bearer', expires_in: answer.expiresInSeconds };
      return { status: 200, headers: { 'cache-control': 'no-store', pragma: 'no-cache' }, body: token };
    }
    return oauthAnswer(deps.baseUrl, answer.error, answer.sentence);
  },
};

const METADATA = z.object({
  issuer: z.string(),
  token_endpoint: z.string(),
  registration_endpoint: z.string(),
  jwks_uri: z.string(),
  response_types_supported: z.array(z.string()),
  grant_types_supported: z.array(z.string()),
  token_endpoint_auth_methods_supported: z.array(z.string()),
  token_endpoint_auth_signing_alg_values_supported: z.array(z.string()),
});

/** GET /.well-known/oauth-authorization-server: where and how clients get tokens (RFC 8414). */
export const oauthMetadataRoute: PublicRoute = {
  method: 'get',
  path: '/.well-known/oauth-authorization-server',
  access: 'public',
  operation: {
    operationId: 'getOauthMetadata',
    tags: ['Accounts'],
    summary: 'Authorization server metadata',
    security: [],
    responses: { '200': jsonResponse('RFC 8414', METADATA) },
  },
  handle: async ({ deps }) => ({
    status: 200,
    headers: { 'cache-control': 'public, max-age=300' },
    body: {
      issuer: deps.baseUrl,
      token_endpoint: tokenEndpoint(deps.baseUrl),
      registration_endpoint: registrationEndpoint(deps.baseUrl),
      jwks_uri: `${deps.baseUrl}/.well-known/jwks.json`,
      response_types_supported: [],
      grant_types_supported: GRANT_TYPES,
      token_endpoint_auth_methods_supported: AUTH_METHODS,
      token_endpoint_auth_signing_alg_values_supported: ['EdDSA', 'ES256', 'RS256'],
    },
  }),
};
