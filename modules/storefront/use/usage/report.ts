import { hash } from 'node:crypto';
import { ServiceError } from '../../../kernel/errors.ts';
import type { ResourceUrl } from '../../../kernel/hosts/host.ts';
import { findEntitlement } from '../../../kernel/licence/licence.ts';
import type { LicenceTerm } from '../../../kernel/licence/period.ts';
import { requireResource, slugOf } from '../../../kernel/pages/resource.ts';
import { canonicalPath } from '../../../kernel/pages/scope.ts';
import { areTokensAlive } from '../../../licences/store/check.ts';
import { findTenantOfHost } from '../../../licences/store/offering.ts';
import { presentPricing } from '../../../quotes/use/issue.ts';
import { issuerOf } from '../../../tenants/use/tenants.ts';
import { countedDay, isWithinTerms, REPORTS_A_DAY, useMoment } from '../../rules/usage.ts';
import type { LicensedPage } from '../../store/recordUsage.ts';
import { findLicensedPage, writeUsage } from '../../store/recordUsage.ts';
import type { BuyerDeps } from '../licences/deps.ts';

/** A report of the right shape. */
export interface UsageReport {
  readonly idempotencyId: string;
  /** What shows the right: a re-read licence or an access token. */
  readonly licence?: string;
  /** A licence of the account that calls, instead. */
  readonly jti?: string;
  readonly resource: string;
  readonly use: LicenceTerm;
  readonly count: number;
  /** Epoch milliseconds. */
  readonly at?: number;
}

/** What a report is of, once the right to it was shown. */
interface Shown {
  readonly tenantId: string;
  readonly licenceJti: string;
  readonly slug: string;
  /** Null: what was bought says nothing about uses. */
  readonly terms: readonly string[] | null;
  /** How many reports of it a day takes. */
  readonly most: number;
}

type Deps = Pick<BuyerDeps, 'database' | 'snapshots' | 'keyring' | 'clock' | 'baseUrl'>;

/**
 * Takes in what a buyer says it did with a page it bought: durable when it resolves. It is no money and changes nothing that is sold.
 * The same report again changes nothing. Throws invalid_parameter, invalid_resource (400), missing_credential, unknown_credential
 * (401), outside_period (403), not_found (404), conflict and idempotency_conflict (409), throttled (429), database_unavailable (503).
 */
export async function reportUse(deps: Deps, accountId: string | null, report: UsageReport): Promise<void> {
  const nowMs = deps.clock();
  const { idempotencyId, use, count } = report;
  const atMs = useMoment(report.at, nowMs);
  const resource = requireResource(report.resource);
  const shown = await rightOf(deps, accountId, report, { resource, atMs });
  const { tenantId, licenceJti, slug, terms, most } = shown;
  const { day, endsInSeconds } = countedDay(nowMs);
  const { host } = resource;
  const row = {
    tenantId,
    licenceJti,
    idempotencyId,
    host,
    slug,
    use,
    count,
    withinTerms: isWithinTerms(use, terms),
    at: new Date(atMs),
    requestHash: hash('sha256', JSON.stringify([host, slug, use, count, report.at ?? null]), 'base64url'),
  };
  const written = await writeUsage(deps.database, row, { day, most });
  if (written === 'other')
    throw new ServiceError('idempotency_conflict', 'this idempotencyId was used for another report under this licence');
  if (written === 'full') {
    const sentence = `at most ${most} reports a day are accepted here; report several uses of a page at once, with count`;
    throw new ServiceError('throttled', sentence, { retryAfterSeconds: endsInSeconds });
  }
}

interface Use {
  readonly resource: ResourceUrl;
  readonly atMs: number;
}

function rightOf(deps: Deps, accountId: string | null, { licence, jti }: UsageReport, use: Use): Promise<Shown> {
  if (licence !== undefined && jti !== undefined) {
    throw new ServiceError('invalid_parameter', 'give the licence or its jti, not both', { parameter: 'jti' });
  }
  if (licence !== undefined) return rightOfToken(deps, licence, use);
  if (jti === undefined) throw new ServiceError('invalid_parameter', 'licence or jti is needed', { parameter: 'licence' });
  if (accountId === null) {
    throw new ServiceError(
      'missing_credential',
      'a jti needs its buyer account: Authorization: Bearer <token>, or SIGN-IN-WITH-X',
    );
  }
  return rightOfAccount(deps, { accountId, jti: jti.toLowerCase() }, use);
}

/** One sentence for whatever is wrong with a token, so that a guess learns nothing. */
function refuseToken(): never {
  throw new ServiceError('unknown_credential', 'this licence did not cover the resource at that moment');
}

/** What a licence in the report itself shows: it must entitle to the page at the moment of the use, as a check at that moment would say. */
async function rightOfToken(deps: Deps, licence: string, { resource, atMs }: Use): Promise<Shown> {
  const claims = await deps.keyring.verify(licence);
  const site = claims && (await findTenantOfHost(deps.database, resource.host));
  const tenant = site && (await deps.snapshots.tenant(site.tenantId, site.version));
  if (!claims || !tenant || tenant.status !== 'active') return refuseToken();
  const { tenantId } = tenant;
  const slug = slugOf(presentPricing(tenant).articlePrefixes, resource.path);
  const granted = findEntitlement(claims, {
    issuer: issuerOf(deps, tenant),
    tenantId,
    host: resource.host,
    path: resource.path,
    slug: slug ?? '',
    kind: 'read',
    nowSeconds: Math.floor(atMs / 1_000),
    mode: 'live',
  });
  if (!granted?.namesTenant) return refuseToken();
  if (granted.holder !== null) {
    throw new ServiceError(
      'unknown_credential',
      'this licence is bound to a holder: report its use with jti and the buyer account',
    );
  }
  const { jti, licenceJti } = granted;
  const path = canonicalPath(resource.path);
  const [alive] = await areTokensAlive(deps.database, [{ tenantId, jti, licenceJti, path: granted.isByHash ? path : null }]);
  if (!alive?.alive) return refuseToken();
  if (licenceJti === null) return { tenantId, licenceJti: jti, slug: slug ?? '', terms: null, most: REPORTS_A_DAY.page };
  const page = await findLicensedPage(deps.database, { tenantId, jti: licenceJti }, path);
  return page ? shownBy(page, licenceJti) : refuseToken();
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** What a licence of an account shows. */
async function rightOfAccount(
  deps: Deps,
  of: { readonly accountId: string; readonly jti: string },
  { resource, atMs }: Use,
): Promise<Shown> {
  const path = canonicalPath(resource.path);
  const page = UUID.test(of.jti) ? await findLicensedPage(deps.database, of, path) : null;
  if (!page?.isOpen || page.revokedAt !== null || page.host !== resource.host) {
    throw new ServiceError('not_found', 'this account holds no such licence on this site');
  }
  if (atMs < page.periodFrom.getTime() || atMs >= page.periodUntil.getTime()) {
    throw new ServiceError('outside_period', 'that moment is outside the licence’s period');
  }
  return shownBy(page, of.jti);
}

function shownBy({ tenantId, slug, terms }: LicensedPage, licenceJti: string): Shown {
  if (slug === null) throw new ServiceError('conflict', 'the resource is not covered by this licence');
  return { tenantId, licenceJti, slug, terms, most: REPORTS_A_DAY.licence };
}
