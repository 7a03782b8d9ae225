import { randomUUID } from 'node:crypto';
import type { BearerDeps } from './deps.ts';

/** A buyer account that was let in. */
export interface AccountCaller {
  readonly accountId: string;
  /** True for its owner: signed in with its wallet, or a client that the operator marked; any other caller buys, and changes nothing of the account. */
  readonly isOwner: boolean;
}

/** Life of an account token, in seconds. */
export const ACCOUNT_TOKEN_SECONDS = 3_600;
/** What tells an account token from a licence: neither passes for the other. */
const GRANT = 'account';
/** What the owner of an account may do; a token without it may only buy. */
const OWNER = 'own';

/**
 * A bearer token of an account: EdDSA, issued by and for this service, one hour. What its bearer may do stands in it. Throws
 * signing_key_unavailable.
 */
export async function mintAccountToken(
  deps: Pick<BearerDeps, 'keyring' | 'clock' | 'baseUrl'>,
  { accountId, isOwner }: AccountCaller,
): Promise<{ readonly token: string; readonly expiresInSeconds: number }> {
  const { kid } = deps.keyring.current();
  const iat = Math.floor(deps.clock() / 1000);
  const claims = {
    iss: deps.baseUrl,
    aud: deps.baseUrl,
    sub: accountId,
    jti: randomUUID(),
    iat,
    nbf: iat,
    exp: iat + ACCOUNT_TOKEN_SECONDS,
    svc: { v: 1, grant: GRANT, ...(isOwner ? { may: OWNER } : {}) },
  };
  return { token: await deps.keyring.sign(kid, claims), expiresInSeconds: ACCOUNT_TOKEN_SECONDS };
}

/** The account of a token that we issued and that has not ended, and what its bearer may; null for any other text. */
export async function readAccountToken(
  deps: Pick<BearerDeps, 'keyring' | 'clock' | 'baseUrl'>,
  token: string,
): Promise<AccountCaller | null> {
  const claims = (await deps.keyring.verify(token)) as Record<string, unknown> | null;
  if (!claims) return null;
  const { iss, aud, sub, exp, nbf } = claims;
  const { grant, may } = (claims['svc'] ?? {}) as { readonly grant?: unknown; readonly may?: unknown };
  if (iss !== deps.baseUrl || aud !== deps.baseUrl || grant !== GRANT || typeof sub !== 'string') return null;
  const nowSeconds = Math.floor(deps.clock() / 1000);
  const isAlive = typeof exp === 'number' && nowSeconds < exp && typeof nbf === 'number' && nbf <= nowSeconds + 60;
  return isAlive ? { accountId: sub, isOwner: may === OWNER } : null;
}
