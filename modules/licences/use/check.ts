import type { Database } from '../../../db/database.ts';
import { isTransientError } from '../../../db/outage.ts';
import { isSignedByKey } from '../../../platform/chain/signature/message.ts';
import { gathered } from '../../../platform/pacing/gather.ts';
import { useOnce } from '../../identity/store/usedOnce.ts';
import type { CodeWallets, WalletQuestion } from '../../identity/use/accounts/codeWallets.ts';
import type { EpochRead } from '../../identity/use/keys/accessEpoch.ts';
import { epochOf, openMemory } from '../../identity/use/keys/accessEpoch.ts';
import type { Caller } from '../../identity/use/keys/authenticate.ts';
import { isServiceError } from '../../kernel/errors.ts';
import type { Entitlement } from '../../kernel/licence/licence.ts';
import { audienceOf, findEntitlement, findLive } from '../../kernel/licence/licence.ts';
import { plainSlug, requireOwned, requireResource, slugOf } from '../../kernel/pages/resource.ts';
import { canonicalPath } from '../../kernel/pages/scope.ts';
import type { CrossingKind } from '../../kernel/terms.ts';
import { articleAt } from '../../quotes/use/articleAt.ts';
import type { PublisherDeps } from '../../quotes/use/deps.ts';
import { presentPricing } from '../../quotes/use/issue.ts';
import { issuerOf } from '../../tenants/use/tenants.ts';
import { PROOF_SKEW_SECONDS, parseProof, proofMessage } from '../rules/proof.ts';
import type { TokenAtEpoch, TokenQuestion } from '../store/check.ts';
import { areTokensAlive, isSoldByTenant } from '../store/check.ts';

/** What a publisher asks about a licence it was shown. */
export interface LicenceQuestion {
  readonly license: string;
  readonly resource: string;
  readonly slug: string;
  readonly kind: CrossingKind;
  /** `<ts>.<nonce>.<sig>` of the holder, for tokens that are bound to one. */
  readonly proof?: string;
}

/** For which site a licence is checked, and whether those of tests count. */
export interface Checker extends Pick<Caller, 'tenant' | 'epochRead'> {
  readonly key: Pick<Caller['key'], 'mode'>;
}

/** What checking needs. */
export type CheckDeps = Pick<PublisherDeps, 'keyring' | 'clock' | 'baseUrl' | 'database' | 'credits'> & {
  readonly codeWallets: CodeWallets;
};

const nameOf = ({ tenantId, jti, licenceJti, path }: TokenQuestion): string =>
  `${tenantId} ${jti} ${licenceJti ?? ''} ${path ?? ''}`;

/** Calls at one time share a query, which begins after all of them. */
const askToken: (database: Database, question: TokenQuestion) => Promise<TokenAtEpoch> = gathered(areTokensAlive, {
  limit: 100,
  concurrency: 2,
  isOutage: isTransientError,
  same: nameOf,
});

const HELD_TOKENS = 50_000;
/** Tokens that entitled, with the epoch they were read at; what did not entitle is asked every time. */
const heldTokens = openMemory<TokenAtEpoch>(HELD_TOKENS);

/** Whether storage lets a token entitle: from memory when the epoch of this call is the one it was read at (safety 24). */
async function isAlive(database: Database, question: TokenQuestion, epoch: EpochRead | undefined): Promise<boolean> {
  const held = heldTokens(database);
  const name = nameOf(question);
  const known = held.get(name);
  if (known && known.epoch === (await epochOf(database, question.tenantId, epoch))) return true;
  const read = await askToken(database, question);
  if (read.alive) held.set(name, read);
  else held.delete(name);
  return read.alive;
}

/**
 * Whether a licence entitles to a page, in whatever form: a re-read licence or an access token, by the minting keys, its own rules, the
 * deny-list, and the holder's proof where it is bound to one. A form may be named with its own slug or the article's. Anything wrong with the licence is a plain `false`. Throws only
 * about the question: invalid_resource (400), resource_not_owned (403), and in an outage.
 */
export async function checkLicence(
  deps: CheckDeps,
  { tenant, key, epochRead }: Checker,
  question: LicenceQuestion,
): Promise<boolean> {
  const asked = requireResource(question.resource);
  const named = plainSlug(question.slug);
  requireOwned(tenant.hosts, asked.host);
  const claims = await deps.keyring.verify(question.license);
  if (!claims) return false;
  const { resource, slug: found } = await articleAt(deps, tenant, asked);
  // A token with a scope is about paths, imported pages outside the article prefixes included; the slug must fit all the same.
  if (found !== null && found !== named && named !== slugOf(presentPricing(tenant).articlePrefixes, asked.path)) return false;
  const slug = found ?? named;
  const nowSeconds = Math.floor(deps.clock() / 1000);
  const granted = findEntitlement(claims, {
    issuer: issuerOf(deps, tenant),
    tenantId: tenant.tenantId,
    host: resource.host,
    path: resource.path,
    slug,
    kind: question.kind,
    nowSeconds,
    mode: key.mode,
  });
  if (!granted) return false;
  const { tenantId } = tenant;
  const { host } = resource;
  const path = granted.isByHash ? canonicalPath(resource.path) : null;
  if (!(await isAlive(deps.database, { tenantId, ...granted, path }, epochRead))) return false;
  if (!granted.namesTenant && !(await isSoldByTenant(deps.database, { tenantId, host, ...granted }))) return false;
  return granted.holder === null || isShownByHolder(deps, granted, { ...question, slug, tenantId, host, nowSeconds });
}

/**
 * The claims of a token that is good on one of the caller's hosts, whatever page it is for: signed by us, for this site, not ended and not
 * revoked. Null for any other. Whether its holder shows it is not asked. Throws in an outage only.
 */
export async function findGoodToken(deps: CheckDeps, { tenant, key, epochRead }: Caller, token: string): Promise<object | null> {
  const claims = await deps.keyring.verify(token);
  const host = claims && tenant.hosts.find((one) => audienceOf(one) === (claims as { aud?: unknown }).aud);
  if (!claims || !host) return null;
  const { tenantId } = tenant;
  const nowSeconds = Math.floor(deps.clock() / 1000);
  const live = findLive(claims, { issuer: issuerOf(deps, tenant), tenantId, host, nowSeconds, mode: key.mode })?.entitlement;
  if (!live || !(await isAlive(deps.database, { tenantId, ...live, path: null }, epochRead))) return null;
  const isOurs = live.namesTenant || (await isSoldByTenant(deps.database, { tenantId, host, ...live }));
  return isOurs ? claims : null;
}

/** True for a fresh proof of the holder that was never used with this token. */
async function isShownByHolder(
  deps: CheckDeps,
  { holder, jti, licenceJti }: Entitlement,
  shown: LicenceQuestion & { readonly tenantId: string; readonly host: string; readonly nowSeconds: number },
): Promise<boolean> {
  const { tenantId, host } = shown;
  const proof = parseProof(shown.proof ?? '', shown.nowSeconds);
  if (!proof || holder === null) return false;
  const message = proofMessage({ aud: audienceOf(host), jti, slug: shown.slug }, proof);
  const signed = { address: holder, message, signature: proof.signature };
  if (!isSignedByKey(signed) && !(await isConfirmed(deps, licenceJti ?? jti, signed))) return false;
  const expiresAt = new Date((proof.tsSeconds + 2 * PROOF_SKEW_SECONDS) * 1000);
  return useOnce(deps.database, { kind: 'proof', tenantId, jti, nonce: proof.nonce }, expiresAt);
}

/**
 * In the turns of wallets with code, a licence as one caller: who shows invented proofs of one takes the turns of no other. A wallet that
 * cannot be asked now has not confirmed anything: whatever is wrong with a licence is `false`, never an error.
 */
async function isConfirmed({ codeWallets }: CheckDeps, licenceJti: string, signed: WalletQuestion): Promise<boolean> {
  try {
    return await codeWallets.confirms(`licence ${licenceJti}`, signed);
  } catch (error) {
    if (isServiceError(error) && error.kind === 'unavailable') return false;
    throw error;
  }
}
