import { ServiceError } from '../../kernel/errors.ts';
import type { AccountCaller } from './accounts/authenticate.ts';
import { accountOfBearer } from './accounts/authenticate.ts';
import type { AccountDeps } from './accounts/deps.ts';
import { readSignInHeader, signIn } from './accounts/signIn.ts';
import type { Caller, CallerDeps, KeyAccess } from './keys/authenticate.ts';
import { authenticateKey, requireLiveKey } from './keys/authenticate.ts';
import { publisherHash } from './keys/keys.ts';
import type { Owner, OwnerDeps } from './owners/authenticate.ts';
import { authenticateOwner, isOwnerCredential } from './owners/authenticate.ts';

/** What letting callers in needs; owners need more (`Taken`). */
export type AuthenticateDeps = CallerDeps & Omit<AccountDeps, 'rpc'>;

/** What a call shows of who makes it. */
export interface Shown {
  /** The credential of its Authorization header. */
  readonly bearer: string | null;
  /** Its SIGN-IN-WITH-X header, where wallets may sign in by it, and the address that it came from. */
  readonly wallet?: { readonly signInWithX: string | null; readonly from: string };
  /** The page that it names: a refused key is noted for its host. */
  readonly resource?: string | null;
}

/** Whom a surface takes; everybody else is refused, as one whom nobody knows. */
export interface Taken {
  /** Publisher keys that have this access. */
  readonly publisher?: KeyAccess;
  /** Publisher keys of a site that is not closed, where scope and plan are asked for field by field. */
  readonly key?: true;
  readonly account?: true;
  /** Owners of sites, with what lets them in. */
  readonly owner?: OwnerDeps;
}

interface WhoBy {
  readonly publisher: { readonly kind: 'publisher'; readonly caller: Caller };
  readonly key: { readonly kind: 'key'; readonly key: Caller['key'] };
  readonly account: { readonly kind: 'account'; readonly account: AccountCaller };
  readonly owner: { readonly kind: 'owner'; readonly owner: Owner };
}

/** Who calls, with the right to what was asked, of those whom a surface takes. */
export type Who<T extends Taken = Required<Taken>> = WhoBy[keyof T & keyof WhoBy];

/**
 * Who calls, read from Postgres in this call unless the access of a key says otherwise. Every credential is told for what it is here, but for keys let
 * in from memory (`authenticateHeld`, `authenticateProven`) and sessions of the console. Throws missing_credential, unknown_credential (401) with one
 * sentence for each kind of credential, what the access of a key refuses (`authenticateKey`),
 * identity_unavailable for owners, and database_unavailable.
 */
export function authenticate<T extends Taken>(deps: AuthenticateDeps, shown: Shown, taken: T): Promise<Who<T>> {
  return whoCalls(deps, shown, taken) as Promise<Who<T>>;
}

async function whoCalls(deps: AuthenticateDeps, { bearer, wallet, resource = null }: Shown, taken: Taken): Promise<Who> {
  if (bearer === null) {
    if (!taken.account || !wallet || wallet.signInWithX === null) throw missing(taken);
    const signed = readSignInHeader(wallet.signInWithX);
    if (!signed) throw new ServiceError('unknown_credential', 'SIGN-IN-WITH-X is not readable');
    const accountId = await signIn(deps, { ...signed, from: wallet.from });
    return { kind: 'account', account: { accountId, isOwner: true } };
  }
  const isKeyAlone = !taken.account && !taken.owner;
  if (isKeyAlone || publisherHash(deps.pepper, bearer, deps.testKeysEnabled) !== null) {
    if (taken.publisher) return { kind: 'publisher', caller: await authenticateKey(deps, bearer, taken.publisher, resource) };
    if (taken.key) return { kind: 'key', key: await requireLiveKey(deps, bearer) };
  }
  const account = taken.account ? await accountOfBearer(deps, bearer) : null;
  if (account) return { kind: 'account', account };
  if (taken.owner && isOwnerCredential(bearer)) return { kind: 'owner', owner: await authenticateOwner(taken.owner, bearer) };
  throw new ServiceError('unknown_credential', `the ${taken.key ? 'API key' : 'account credential'} is not recognised`);
}

function missing({ account, owner }: Taken): ServiceError {
  const sentence = owner
    ? 'an API key or an owner’s token is needed: Authorization: Bearer <key>'
    : account
      ? 'a buyer account is needed: Authorization: Bearer <token>, or SIGN-IN-WITH-X'
      : 'an API key is needed: Authorization: Bearer <key>';
  return new ServiceError('missing_credential', sentence);
}
