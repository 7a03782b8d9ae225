import type { Transactional } from '../../../db/database.ts';
import {
  createAccountClient,
  createBuyerAccount,
  mintBuyerKey,
  revokeAccountClient,
  revokeBuyerKey,
} from '../../identity/use/accounts/clients.ts';
import type { CredentialDeps } from '../../identity/use/keys/keys.ts';
import type { Actor } from '../../kernel/access/auditEntry.ts';
import { changeAsOperator } from './change.ts';

/** What an operator changes of buyer accounts, each with its entry in the operators' log: no secret, nor who somebody is. */

/** Creates an account (see `createBuyerAccount`). Every call makes another one. */
export function openBuyer(deps: CredentialDeps, actor: Actor, request: Parameters<typeof createBuyerAccount>[1] = {}) {
  return changeAsOperator<Awaited<ReturnType<typeof createBuyerAccount>>>(deps, actor, {
    action: 'buyer.create',
    target: ({ accountId }: { accountId: string }) => accountId,
    look: async (_sql, made) => (made === undefined ? null : { last4: made.token.slice(-4) }),
    make: (database) => createBuyerAccount({ ...deps, database }, request),
  });
}

/** Issues another key of an account. Throws not_found. */
export function issueBuyerKey(deps: CredentialDeps, actor: Actor, accountId: string): Promise<{ readonly token: string }> {
  return changeAsOperator(deps, actor, {
    action: 'buyer.issue_key',
    target: accountId,
    look: async (_sql, made) => (made === undefined ? null : { last4: made.token.slice(-4) }),
    make: (database) => mintBuyerKey({ ...deps, database }, accountId),
  });
}

/** Revokes a key of an account. Throws not_found. */
export function withdrawBuyerKey(deps: CredentialDeps, actor: Actor, token: string): Promise<void> {
  return changeAsOperator(deps, actor, {
    action: 'buyer.revoke_key',
    target: null,
    look: async () => ({ last4: token.slice(-4) }),
    make: (database) => revokeBuyerKey({ ...deps, database }, token),
  });
}

/** Makes an OAuth client of an account. Throws as `createAccountClient`. */
export function openBuyerClient(deps: CredentialDeps, actor: Actor, request: Parameters<typeof createAccountClient>[1]) {
  return changeAsOperator(deps, actor, {
    action: 'buyer.create_client',
    target: ({ clientId }: { clientId: string }) => clientId,
    look: async (_sql, made) =>
      made === undefined
        ? null
        : {
            accountId: request.accountId,
            by: request.jwks === undefined ? 'secret' : 'jwks',
            ...(request.isOwner ? { isOwner: true } : {}),
          },
    make: (database) => createAccountClient({ ...deps, database }, request),
  });
}

/** Revokes an OAuth client. Throws not_found. */
export function withdrawBuyerClient(deps: { readonly database: Transactional }, actor: Actor, clientId: string): Promise<void> {
  return changeAsOperator(deps, actor, {
    action: 'buyer.revoke_client',
    target: clientId,
    look: async () => null,
    make: (database) => revokeAccountClient({ database }, clientId),
  });
}
