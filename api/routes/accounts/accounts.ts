import { z } from 'zod';
import { openChallenge, signIn } from '../../../modules/identity/use/accounts/signIn.ts';
import { mintAccountToken } from '../../../modules/identity/use/accounts/token.ts';
import { ServiceError } from '../../../modules/kernel/errors.ts';
import type { Address } from '../../../modules/kernel/money/legs.ts';
import type { PublicRoute } from '../../route.ts';
import { AccountToken, SignInBody, SignInChallenge } from '../../schemas/accounts.ts';
import { parseWith } from '../../schemas/parse.ts';
import { address, ErrorBody } from '../../schemas/shared.ts';
import { jsonResponse } from '../responses.ts';

/** GET /_svc/accounts/challenge: what a wallet signs to sign in (EIP-4361). */
export const challengeRoute: PublicRoute = {
  method: 'get',
  path: '/_svc/accounts/challenge',
  access: 'public',
  isForPages: true,
  operation: {
    operationId: 'getSignInChallenge',
    tags: ['Accounts'],
    summary: 'A message to sign in with',
    security: [],
    requestParams: { query: z.object({ address }) },
    responses: {
      '200': jsonResponse('Valid once, for five minutes', SignInChallenge),
      '400': jsonResponse('No address', ErrorBody),
      '503': jsonResponse('Not possible now; see Retry-After', ErrorBody),
    },
  },
  handle: async ({ deps, query }) => {
    const given = address.safeParse(query.get('address'));
    if (!given.success)
      throw new ServiceError('invalid_parameter', 'address must be 0x and 40 hex digits', { parameter: 'address' });
    const { chainId, ...challenge } = openChallenge(deps, given.data.toLowerCase() as Address);
    const body = { ...challenge, version: '1', chainId: `eip155:${chainId}` };
    return { status: 200, headers: { 'cache-control': 'no-store' }, body };
  },
};

/** POST /_svc/accounts/token: a token for a signed challenge. */
export const signInRoute: PublicRoute = {
  method: 'post',
  path: '/_svc/accounts/token',
  access: 'public',
  cost: 'heavy',
  isForPages: true,
  bodyLimitBytes: 16_384,
  operation: {
    operationId: 'signIn',
    tags: ['Accounts'],
    summary: 'Sign in with a wallet',
    security: [],
    requestBody: { required: true, content: { 'application/json': { schema: SignInBody } } },
    responses: {
      '200': jsonResponse('A bearer token of the wallet’s account', AccountToken),
      '400': jsonResponse('Malformed request', ErrorBody),
      '401': jsonResponse('The signature or message is not accepted', ErrorBody),
      '503': jsonResponse('Not possible now; see Retry-After', ErrorBody),
    },
  },
  handle: async ({ deps, body, address: from }) => {
    const { message, signature } = parseWith(SignInBody, body);
    deps.keyring.current(); // before the nonce is used up
    const accountId = await signIn(deps, { message, signature, from });
    const { token, expiresInSeconds } = await mintAccountToken(deps, { accountId, isOwner: true });
    const answer = { access_token: token, token_type: 'Bearer', expires_in: expiresInSeconds, accountId };
    return { status: 200, headers: { 'cache-control': 'no-store' }, body: answer };
  },
};
