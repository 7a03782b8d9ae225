import { findAccountByKey } from '../../db/credentials/accounts.ts';
import { ServiceError } from '../../domain/errors.ts';
import { isWellFormedToken } from '../credentials/keys.ts';
import { hashCredential, hashesOf } from '../credentials/pepper.ts';
import type { BuyerDeps } from '../licences/deps.ts';
import { atDatabase } from '../outage.ts';
import { readSignInHeader, signIn } from './signIn.ts';
import { readAccountToken } from './token.ts';

/** Prefix of an account's long-lived credential. */
const KEY_PREFIX = 'svc_buyer_';

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
export async function authenticateAccount(
  deps: BuyerDeps,
  credential: AccountCredential,
): Promise<{ readonly accountId: string }> {
  const { bearer, signInWithX, from } = credential;
  if (bearer !== null) {
    const accountId = await accountOfBearer(deps, bearer);
    if (accountId !== null) return { accountId };
    throw new ServiceError('unknown_credential', 'the account credential is not recognised');
  }
  if (signInWithX === null) {
    throw new ServiceError('missing_credential', 'a buyer account is needed: Authorization: Bearer <token>, or SIGN-IN-WITH-X');
  }
  const signed = readSignInHeader(signInWithX);
  if (!signed) throw new ServiceError('unknown_credential', 'SIGN-IN-WITH-X is not readable');
  return { accountId: await signIn(deps, { ...signed, from }) };
}

async function accountOfBearer(deps: BuyerDeps, bearer: string): Promise<string | null> {
  if (!bearer.startsWith(KEY_PREFIX)) return readAccountToken(deps, bearer);
  if (!isWellFormedToken(bearer, KEY_PREFIX)) return null;
  const hash = hashCredential(deps.pepper, bearer);
  const key = await atDatabase(() => findAccountByKey(deps.database, hashesOf(hash)));
  if (key) deps.rehash?.note('buyer_key', key.keyHash, hash);
  return key?.accountId ?? null;
}
