import { hashCredential, hashesOf } from '../../../../platform/tokens/pepper.ts';
import { ServiceError } from '../../../kernel/errors.ts';
import { findAccountByKey } from '../../store/accounts.ts';
import { isWellFormedToken } from '../keys/keys.ts';
import type { AccountDeps, BearerDeps } from './deps.ts';
import { readSignInHeader, signIn } from './signIn.ts';
import type { AccountCaller } from './token.ts';
import { readAccountToken } from './token.ts';

/** Prefix of an account's long-lived credential. */
const KEY_PREFIX = 'svc_buyer_';

export type { AccountCaller } from './token.ts';

/** Lets the owner of an account go on. Throws scope_missing for an agent's key. */
export function requireOwnAccount({ isOwner }: AccountCaller): void {
  if (!isOwner) throw new ServiceError('scope_missing', 'an agent’s key cannot do this: sign in with the account’s wallet');
}

/** How a buyer shows who it is. */
export interface AccountCredential {
  readonly bearer: string | null;
  /** The SIGN-IN-WITH-X header. */
  readonly signInWithX: string | null;
  /** The address the request came from. */
  readonly from: string;
}

/**
 * Lets a buyer account in: a bearer that is a `svc_buyer_` key, looked up in
 * this call, or an account token; or a signed challenge in SIGN-IN-WITH-X. Throws missing_credential, unknown_credential (401).
 */
export async function authenticateAccount(deps: AccountDeps, credential: AccountCredential): Promise<AccountCaller> {
  const { bearer, signInWithX, from } = credential;
  if (bearer !== null) {
    const account = await authenticateBearer(deps, bearer);
    if (account !== null) return account;
    throw new ServiceError('unknown_credential', 'the account credential is not recognised');
  }
  if (signInWithX === null) {
    throw new ServiceError('missing_credential', 'a buyer account is needed: Authorization: Bearer <token>, or SIGN-IN-WITH-X');
  }
  const signed = readSignInHeader(signInWithX);
  if (!signed) throw new ServiceError('unknown_credential', 'SIGN-IN-WITH-X is not readable');
  return { accountId: await signIn(deps, { ...signed, from }), isOwner: true };
}

/** True of text that can only be meant as a long-lived credential of an account. */
export function isBuyerKey(bearer: string): boolean {
  return bearer.startsWith(KEY_PREFIX);
}

/** The account of a bearer: a `svc_buyer_` key, looked up in this call, or an account token; null for any other text. */
export async function authenticateBearer(deps: BearerDeps, bearer: string): Promise<AccountCaller | null> {
  if (!isBuyerKey(bearer)) return await readAccountToken(deps, bearer);
  if (!isWellFormedToken(bearer, KEY_PREFIX)) return null;
  const hash = hashCredential(deps.pepper, bearer);
  const key = await findAccountByKey(deps.database, hashesOf(hash));
  if (key) deps.rehash?.note('buyer_key', key.keyHash, hash);
  return key ? { accountId: key.accountId, isOwner: false } : null;
}
