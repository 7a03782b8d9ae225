import { z } from 'zod';
import type { AgentKey } from '../../../modules/budgets/use/keys.ts';
import { mintAgentKey, revokeAgentKey, showAgentKeys } from '../../../modules/budgets/use/keys.ts';
import { requireOwnAccount } from '../../../modules/identity/use/accounts/authenticate.ts';
import type { AccountRoute } from '../../route.ts';
import { AgentKeyBody, AgentKeys, MintedAgentKey } from '../../schemas/budget.ts';
import { parseWith } from '../../schemas/parse.ts';
import { jsonResponse } from '../responses.ts';
import { idOf } from './approvals.ts';
import { ACCOUNT_SECURITY, OWNER_ERRORS, PRIVATE } from './shared.ts';

const shared = { path: '/_svc/accounts/keys', access: 'account', isForPages: true } as const;

/** GET /_svc/accounts/keys: keys of agents that let somebody in. */
export const listAgentKeysRoute: AccountRoute = {
  ...shared,
  method: 'get',
  operation: {
    operationId: 'listAgentKeys',
    tags: ['Accounts'],
    summary: 'Keys of agents',
    security: ACCOUNT_SECURITY,
    responses: { '200': jsonResponse('Oldest first, never the secret', AgentKeys), ...OWNER_ERRORS },
  },
  handle: async ({ deps, account }) => {
    requireOwnAccount(account);
    return { status: 200, headers: PRIVATE, body: { keys: (await showAgentKeys(deps, account.accountId)).map(keyBody) } };
  },
};

/** POST /_svc/accounts/keys: a key for an agent, shown this once. */
export const mintAgentKeyRoute: AccountRoute = {
  ...shared,
  method: 'post',
  bodyLimitBytes: 4_096,
  operation: {
    operationId: 'mintAgentKey',
    tags: ['Accounts'],
    summary: 'Make a key for an agent',
    security: ACCOUNT_SECURITY,
    requestBody: { required: true, content: { 'application/json': { schema: AgentKeyBody } } },
    responses: { '201': jsonResponse('The key; it is shown this once', MintedAgentKey), ...OWNER_ERRORS },
  },
  handle: async ({ deps, account, body }) => {
    requireOwnAccount(account);
    const { token, ...key } = await mintAgentKey(deps, account.accountId, parseWith(AgentKeyBody, body).name);
    return { status: 201, headers: PRIVATE, body: { ...keyBody(key), token } };
  },
};

/** DELETE /_svc/accounts/keys/:keyId: the key lets nobody in from the next call on. */
export const revokeAgentKeyRoute: AccountRoute = {
  ...shared,
  method: 'delete',
  path: '/_svc/accounts/keys/:keyId',
  operation: {
    operationId: 'revokeAgentKey',
    tags: ['Accounts'],
    summary: 'Revoke a key of an agent',
    security: ACCOUNT_SECURITY,
    requestParams: { path: z.object({ keyId: z.string() }) },
    responses: { '204': { description: 'Revoked; repeating the call changes nothing' }, ...OWNER_ERRORS },
  },
  handle: async ({ deps, account, params }) => {
    requireOwnAccount(account);
    await revokeAgentKey(deps, account.accountId, idOf(params['keyId'], 'key'));
    return { status: 204, headers: PRIVATE };
  },
};

function keyBody({ keyId, name, last4, createdAt }: AgentKey) {
  return { keyId, name, last4, createdAt: createdAt.getTime() };
}
