import type { AccountCaller } from '../../modules/identity/use/accounts/authenticate.ts';
import { requireOwnAccount } from '../../modules/identity/use/accounts/authenticate.ts';
import type { Owner } from '../../modules/identity/use/owners/authenticate.ts';
import { ownedTenant } from '../../modules/identity/use/owners/ownedTenant.ts';
import type { Scope } from '../../modules/kernel/access/key.ts';
import { requireAccess } from '../../modules/kernel/access/key.ts';
import { ServiceError } from '../../modules/kernel/errors.ts';
import type { GraphqlContext } from './context.ts';

type Caller = Pick<GraphqlContext, 'key' | 'owner' | 'account'> & { readonly deps: Pick<GraphqlContext['deps'], 'clock'> };

/**
 * Lets an owner in, and a key that has the scope, in the order of REST: 401, plan gate, suspended, scope. Throws what
 * `requireAccess` throws; true otherwise.
 */
export function requireReader({ key, owner, account, deps }: Caller, scope: Scope): true {
  if (account) throw noSites();
  if (!owner) requireAccess(key, scope, deps.clock());
  return true;
}

/** Lets an owner in. Throws scope_missing for a key: nothing of what an owner may do is in a key's scopes. */
export function requireOwner({ owner }: Pick<GraphqlContext, 'owner'>): true {
  if (!owner) throw new ServiceError('scope_missing', 'this needs an owner’s token; a key can only read');
  return true;
}

/** Of an account nothing is shown and nothing changed but itself. */
export function noSites(): ServiceError {
  return new ServiceError('scope_missing', 'this belongs to a site; the credential of a buyer account can query only `account`');
}

/**
 * The account whose owner asks. Throws scope_missing for one of its agent keys, which buys and never looks or changes here, and for
 * callers of a site.
 */
export function requireAccountOwner({ account }: Pick<GraphqlContext, 'account'>): AccountCaller {
  if (!account) throw new ServiceError('scope_missing', 'this belongs to a buyer account: sign in with its wallet');
  requireOwnAccount(account);
  return account;
}

/** The site of an owner's call, and the owner. Throws as `requireOwner` and `ownedTenant` do. */
export function requireOwned(
  context: Pick<GraphqlContext, 'owner'>,
  tenantId: string | null | undefined,
): { readonly userId: string; readonly tenantId: string } {
  requireOwner(context);
  const owner = context.owner as Owner;
  return { userId: owner.userId, tenantId: ownedTenant(owner, tenantId) };
}
