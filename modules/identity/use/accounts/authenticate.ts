import { hashCredential, hashesOf } from '../../../../platform/tokens/pepper.ts';
import { ServiceError } from '../../../kernel/errors.ts';
import { findAccountByKey } from '../../store/accounts.ts';
import { isWellFormedToken } from '../keys/keys.ts';
import type { BearerDeps } from './deps.ts';
import type { AccountCaller } from './token.ts';
import { readAccountToken } from './token.ts';

/** Prefix of an account's long-lived credential. */
const KEY_PREFIX = 'svc_buyer_';

export type { AccountCaller } from './token.ts';

/** Lets the owner of an account go on. Throws scope_missing for an agent's key. */
export function requireOwnAccount({ isOwner }: AccountCaller): void {
  if (!isOwner) throw new ServiceError('scope_missing', 'an agent’s key cannot do this: sign in with the account’s wallet');
}

/** The account of a bearer: a `svc_buyer_` key, looked up in this call, or an account token; null for any other text. */
export async function accountOfBearer(deps: BearerDeps, bearer: string): Promise<AccountCaller | null> {
  if (!bearer.startsWith(KEY_PREFIX)) return await readAccountToken(deps, bearer);
  if (!isWellFormedToken(bearer, KEY_PREFIX)) return null;
  const hash = hashCredential(deps.pepper, bearer);
  const key = await findAccountByKey(deps.database, hashesOf(hash));
  if (key) deps.rehash?.note('buyer_key', key.keyHash, hash);
  return key ? { accountId: key.accountId, isOwner: false } : null;
}
