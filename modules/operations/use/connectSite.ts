/**
 * Connecting a WordPress to a site: authorization code with PKCE (OAuth 2.1 §4.1), between the plugin, the owner's browser and us. Nothing is stored
 * before it is used: code and grant are sealed, and each is good once.
 */
import { createHash, randomUUID } from 'node:crypto';
import type { Database, Sql } from '../../../db/database.ts';
import { joinTransaction } from '../../../db/database.ts';
import type { SecretBox } from '../../../platform/tokens/secretBox.ts';
import type { ChallengeDeps } from '../../hosts/use/challenges.ts';
import { openSiteHost } from '../../hosts/use/manageHosts.ts';
import type { SessionOrigin, TenantLine } from '../../identity/store/consoleSessions.ts';
import { listTenantLines } from '../../identity/store/consoleSessions.ts';
import { listKeys } from '../../identity/store/keys.ts';
import { useOnce } from '../../identity/store/usedOnce.ts';
import type { Owner, OwnerDeps } from '../../identity/use/owners/authenticate.ts';
import { ownerOfOrigin } from '../../identity/use/owners/authenticate.ts';
import { ownedTenant } from '../../identity/use/owners/ownedTenant.ts';
import type { SiteKeyDeps } from '../../identity/use/siteKeys.ts';
import { mintSiteConnectKey, mintSiteKey, revokeSiteKey } from '../../identity/use/siteKeys.ts';
import { ServiceError } from '../../kernel/errors.ts';
import { setCreditsToken } from '../../quotes/use/credits/token.ts';
import { changePricing } from '../../quotes/use/managePrices.ts';
import type { SiteCall } from '../../tenants/use/change.ts';
import type { PricingLimits } from '../../tenants/use/tenants.ts';
import type { AskedConnection } from '../rules/connection.ts';
import { answerAddress, readConnection } from '../rules/connection.ts';
import { keyNames } from './connectionKeys.ts';

/** What connecting needs. */
export type ConnectDeps = ChallengeDeps &
  PricingLimits &
  Omit<SiteKeyDeps, 'database'> &
  Pick<OwnerDeps, 'oidc' | 'signUp'> & { readonly database: Database; readonly secretBox: SecretBox };

/** What a code is exchanged for: a right to finish, and whom and what the administrator is asked to confirm. */
export interface Granted {
  readonly grant: string;
  readonly expiresInSeconds: number;
  /** The user who said yes, as the console names him. */
  readonly account: string;
  readonly site: TenantLine;
  /** The host that is connected. */
  readonly host: string;
}

/** What a connected WordPress works with. */
export interface Connected {
  readonly tenantId: string;
  readonly host: string;
  /** Asks for prices and settles payments, until it is revoked. */
  readonly key: string;
  /** Proves the host, for 30 days; null where it is proven. */
  readonly proofKey: string | null;
  /** What to show at /.well-known/svc-challenge; null where the host is proven. */
  readonly challenge: string | null;
}

/** A code lives as long as a browser needs to be led back. */
export const CODE_LIFE_MS = 60_000;
/** A grant lives as long as somebody reads a page and says yes. */
export const GRANT_LIFE_MS = 600_000;

const CODE = 'connection code';
const GRANT = 'connection grant';

/** What is sealed. */
interface Permission {
  readonly id: string;
  /** Who said yes; asked again whether he still may. */
  readonly origin: SessionOrigin;
  readonly tenantId: string;
  readonly host: string;
  readonly name: string;
  readonly creditsUrl: string;
  readonly codeChallenge: string;
  readonly challenge: string | null;
  readonly endsAtMs: number;
}

/**
 * An owner says yes: opens the challenge of the host and returns the address that leads back with a code. A second call makes another code. Throws
 * invalid_parameter for a request that may not be granted, not_found for a site that is not this owner's, conflict when another site has
 * proven the host, and what `openSiteHost` throws.
 */
export async function authorizeConnection(
  deps: ConnectDeps,
  owner: Owner,
  request: { readonly tenantId: string; readonly asked: AskedConnection; readonly issuer: string },
): Promise<{ readonly redirectTo: string }> {
  const { host, name, creditsUrl, codeChallenge, redirectUri, state } = readConnection(request.asked);
  const call = callOf(owner, ownedTenant(owner, request.tenantId));
  if (owner.origin === undefined) throw new ServiceError('internal', 'an owner whom nothing let in');
  const opened = await openSiteHost(deps, call, { host, method: 'well-known' });
  if (opened.kind === 'host_taken') throw new ServiceError('conflict', 'another site has proven this host');
  const challenge = opened.kind === 'opened' ? opened.challenge.token : null;
  const { tenantId } = call;
  const named = { id: randomUUID(), origin: owner.origin, tenantId, host, name, creditsUrl, codeChallenge, challenge };
  const code = seal(deps, CODE, { ...named, endsAtMs: deps.clock() + CODE_LIFE_MS });
  // The plugin compares who answers with whom it asked (RFC 9207): another service cannot have it redeem a code of ours.
  return { redirectTo: answerAddress(redirectUri, { code, state, iss: request.issuer }) };
}

/**
 * The plugin exchanges its code, once. Throws unknown_credential for a code that is not ours, has ended, was used, or was asked for with another
 * verifier, and when its owner lost the site meanwhile. A code that comes twice is in two hands: then what it was exchanged for ends, too.
 */
export async function redeemCode(deps: ConnectDeps, code: string, verifier: string): Promise<Granted> {
  const permission = open(deps, CODE, code);
  const proven = createHash('sha256').update(verifier).digest('base64url');
  if (permission === null || proven !== permission.codeChallenge) return refuse();
  const endsAtMs = deps.clock() + GRANT_LIFE_MS;
  if (!(await isFirst(deps.database, CODE, permission))) {
    await isFirst(deps.database, GRANT, { ...permission, endsAtMs });
    return refuse();
  }
  const { userId } = await ownerStill(deps, permission);
  const [site] = await listTenantLines(deps.database, [permission.tenantId]);
  if (!site) return refuse();
  const grant = seal(deps, GRANT, { ...permission, endsAtMs });
  return { grant, expiresInSeconds: GRANT_LIFE_MS / 1_000, account: userId, site, host: permission.host };
}

/**
 * Connects, once, when the WordPress' administrator has confirmed: the site asks this WordPress who wrote a page, with this token, and the WordPress
 * gets its keys; the keys of its former connection end. All of it or nothing, so that a call that failed may be sent again. Throws
 * unknown_credential as `redeemCode` does, invalid_parameter for a token that no header takes, conflict at 20 keys, site_suspended.
 */
export async function finishConnection(deps: ConnectDeps, grant: string, creditsToken: string): Promise<Connected> {
  const permission = open(deps, GRANT, grant) ?? refuse();
  const call = callOf(await ownerStill(deps, permission), permission.tenantId);
  const { tenantId, host, creditsUrl, challenge } = permission;
  const names = keyNames(permission.name);
  return await deps.database.transaction(async (sql) => {
    if (!(await isFirst(sql, GRANT, permission))) refuse();
    const within = { ...deps, database: joinTransaction(sql) };
    for (const { keyId, ...key } of await listKeys(sql, tenantId)) {
      if (key.revokedAt === null && [names.key, names.proof].includes(key.name)) await revokeSiteKey(within, call, keyId);
    }
    await changePricing(within, call, 'price.set', { creditsApiUrl: creditsUrl });
    await setCreditsToken(within, call, creditsToken);
    const { token: key } = await mintSiteKey(within, call, { name: names.key, scopes: ['tenant.read'] });
    const proof = challenge === null ? null : await mintSiteConnectKey(within, call, { name: names.proof });
    return { tenantId, host, key, proofKey: proof?.token ?? null, challenge };
  });
}

function callOf({ userId, via }: Owner, tenantId: string): SiteCall {
  return { actor: { userId, via }, tenantId };
}

/** The owner who said yes, if he is let in now and the site is still his. */
async function ownerStill(deps: ConnectDeps, { origin, tenantId }: Permission): Promise<Owner> {
  const owner = await ownerOfOrigin(deps, origin);
  return owner?.tenantIds.includes(tenantId) ? owner : refuse();
}

function isFirst(sql: Sql, what: string, { id, endsAtMs }: Permission): Promise<boolean> {
  return useOnce(sql, { kind: 'sign_in', nonce: `${what} ${id}` }, new Date(endsAtMs));
}

function seal({ secretBox }: ConnectDeps, what: string, permission: Permission): string {
  return secretBox.seal(JSON.stringify(permission), what).toString('base64url');
}

function open({ secretBox, clock }: ConnectDeps, what: string, text: string): Permission | null {
  try {
    const permission = JSON.parse(secretBox.open(Buffer.from(text, 'base64url'), what)) as Permission;
    return clock() < permission.endsAtMs ? permission : null;
  } catch {
    return null; // sealed by somebody else, or for something else
  }
}

function refuse(): never {
  throw new ServiceError(
    'unknown_credential',
    'this connection has ended, was used before, or was begun elsewhere; connect again',
  );
}
