import { randomUUID } from 'node:crypto';
import { accessEndSeconds } from '../../../kernel/access/accessToken.ts';
import { ServiceError } from '../../../kernel/errors.ts';
import { normaliseHost } from '../../../kernel/hosts/host.ts';
import type { Address } from '../../../kernel/money/legs.ts';
import { coverSteps } from '../../../kernel/pages/cover.ts';
import { compilePattern, isExactPath, isWithin, MAX_PATTERNS } from '../../../kernel/pages/scope.ts';
import type { LicenceRecord } from '../../../licences/store/licences.ts';
import { findLicence } from '../../../licences/store/licences.ts';
import { findTenantOfHost } from '../../../licences/store/offering.ts';
import { mintAccessToken } from '../../../licences/use/mintAccess.ts';
import { requireWallet } from '../../../tenants/use/payees.ts';
import { issuerOf } from '../../../tenants/use/tenants.ts';
import type { BuyerDeps } from './deps.ts';

/** An access token asked for. */
export interface AccessRequest {
  readonly accountId: string;
  readonly jti: string;
  /** Exact paths or patterns to narrow to; left out: all pages. */
  readonly paths?: readonly string[];
  /** Bind the token to this wallet. */
  readonly holder?: string;
  /** The site it is for, where the caller says so; a licence of another one is not found. */
  readonly host?: string;
  /** Host header of the request. */
  readonly requestHost: string | null;
}

/** A token as the API shows it; times in epoch milliseconds. */
export interface AccessBody {
  readonly license: string;
  readonly patterns: readonly string[];
  readonly expiresAt: number;
  readonly periodUntil: number;
}

/**
 * Mints a short token under a held licence. Throws invalid_parameter (400), not_found (404) for any licence that is not the
 * account's on this site, known or not, or whose site is not active or has not its host any more, outside_period (403), conflict (409) for
 * pages outside the licence or another holder, signing_key_unavailable, overloaded (503). Every call gives another token.
 */
export async function openAccess(deps: BuyerDeps, request: AccessRequest): Promise<AccessBody> {
  const patterns = readPaths(request.paths);
  const licence = await findHeld(deps, request);
  if (patterns) requireWithin(licence, patterns);
  const nowMs = deps.clock();
  if (nowMs < licence.periodFrom.getTime()) throw new ServiceError('outside_period', 'this licence’s period has not begun');
  if (nowMs >= licence.periodUntil.getTime()) throw new ServiceError('outside_period', 'this licence has expired');
  const { accountId: caller } = request;
  const { tenantId } = licence;
  const paths =
    patterns === null
      ? null
      : await deps.scopes.inTurn({ caller, tenantId }, () => deps.scopes.run(narrowSteps(licence, patterns)));
  const holder = holderOf(licence, request.holder);
  const { kid } = deps.keyring.current();
  const tenant = await deps.snapshots.tenant(licence.tenantId);
  const issuer = issuerOf(deps, tenant ?? { licenseIssuer: null });
  const period = { fromMs: licence.periodFrom.getTime(), untilMs: licence.periodUntil.getTime() };
  const expiresAtSeconds = accessEndSeconds(period, nowMs, deps.licenceLifeSeconds);
  const issuedAtSeconds = Math.floor(nowMs / 1000);
  const facts = { issuer, jti: randomUUID(), kid, issuedAtSeconds, expiresAtSeconds, paths, holder };
  const signer = deps.keyring;
  const minted = await mintAccessToken({ database: deps.database, signer }, licence, facts);
  return { ...minted, expiresAt: expiresAtSeconds * 1000, periodUntil: period.untilMs };
}

/** The account's licence; whatever is not exactly that is the same 404. */
async function findHeld(deps: BuyerDeps, { accountId, jti, host, requestHost }: AccessRequest): Promise<LicenceRecord> {
  const isUuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i.test(jti);
  const named = normaliseHost(host ?? requestHost ?? '');
  const isOurs = host === undefined && (named === '' || named === new URL(deps.baseUrl).hostname);
  const [licence, site] = await Promise.all([
    isUuid ? findLicence(deps.database, { accountId, jti }) : null,
    isOurs ? null : findTenantOfHost(deps.database, named),
  ]);
  const isForSite = host !== undefined || site?.isRouted === true;
  const isElsewhere = isForSite && site?.tenantId !== licence?.tenantId;
  if (!licence?.isOpen || licence.revokedAt !== null || isElsewhere) {
    throw new ServiceError('not_found', 'this account holds no such licence on this site');
  }
  return licence;
}

function readPaths(paths: readonly string[] | undefined) {
  if (paths === undefined) return null;
  if (paths.length === 0 || paths.length > MAX_PATTERNS) {
    throw new ServiceError('invalid_parameter', `paths must be 1 to ${MAX_PATTERNS} paths or patterns`, { parameter: 'paths' });
  }
  return paths.map((path, index) => {
    const anchored = isExactPath(path) && !path.endsWith('$') ? `${path}$` : path;
    return { given: path, pattern: compilePattern(anchored, `paths.${index}`) };
  });
}

/** A pattern that reaches further than those the licence was bought with is refused: the buyer asked for more than it has. */
function requireWithin(licence: LicenceRecord, patterns: NonNullable<ReturnType<typeof readPaths>>): void {
  const bought = licence.patterns.map((pattern) => compilePattern(pattern));
  const wide = patterns.find(({ pattern }) => !bought.some((outer) => isWithin(pattern, outer)));
  if (wide) throw new ServiceError('conflict', `${wide.given} is wider than this licence`);
}

/** The pages of the licence that the patterns name; each must name one at least. */
function* narrowSteps(
  licence: LicenceRecord,
  patterns: NonNullable<ReturnType<typeof readPaths>>,
): Generator<void, readonly string[]> {
  const sorted = [...licence.paths].sort((a, b) => (a < b ? -1 : 1));
  const compiled = patterns.map(({ pattern }) => pattern);
  const { places, idle } = yield* coverSteps(sorted, compiled, sorted.length);
  if (idle !== null) throw new ServiceError('conflict', `${patterns[idle]?.given} is not covered by this licence`);
  const named = new Set(places.map((place) => sorted[place]));
  return licence.paths.filter((path) => named.has(path));
}

function holderOf(licence: LicenceRecord, asked: string | undefined): Address | null {
  const holder = asked === undefined ? null : requireWallet(asked, 'holder');
  if (licence.holder !== null && holder !== null && holder !== licence.holder) {
    throw new ServiceError('conflict', 'this licence is bound to another holder');
  }
  return licence.holder ?? holder;
}
