import { createHash } from 'node:crypto';
import type { TenantSnapshot } from '../../../identity/use/tenantSnapshots.ts';
import { ServiceError } from '../../../kernel/errors.ts';
import { normaliseHost } from '../../../kernel/hosts/host.ts';
import type { LicenceTerm, Period } from '../../../kernel/licence/period.ts';
import { parsePeriod, parseTerms } from '../../../kernel/licence/period.ts';
import type { Address } from '../../../kernel/money/legs.ts';
import { requireResource } from '../../../kernel/pages/resource.ts';
import type { CompiledPattern } from '../../../kernel/pages/scope.ts';
import { compilePattern, parseScope } from '../../../kernel/pages/scope.ts';
import type { CrossingKind } from '../../../kernel/terms.ts';
import { findTenantOfHost } from '../../../licences/store/offering.ts';
import { requireWallet } from '../../../tenants/use/payees.ts';
import type { BuyerDeps } from './deps.ts';

/** A licence asked for, of the right shape. */
export interface LicenceRequest {
  readonly scope: readonly string[];
  readonly terms: readonly string[];
  readonly periodDays: number;
  readonly kind: CrossingKind;
  readonly host?: string;
  readonly resource?: string;
  /** Epoch milliseconds. */
  readonly startsAt?: number;
  /** Bind the licence's tokens to this wallet. */
  readonly holder?: string;
}

/** A request understood: for a site that exists, with everything checked that can be checked without its catalogue. */
export interface UnderstoodRequest {
  readonly tenant: TenantSnapshot;
  readonly host: string;
  readonly patterns: readonly string[];
  readonly compiled: readonly CompiledPattern[];
  readonly terms: readonly LicenceTerm[];
  readonly period: Period;
  readonly periodDays: number;
  readonly kind: CrossingKind;
  readonly holder: Address | null;
  /** The same for the same request, whenever it is made. */
  readonly requestHash: string;
}

/**
 * Understands a request. Which site: `host`, else `resource`, else absolute patterns, else the request's own Host when that is
 * routed to us. Throws invalid_parameter, invalid_resource (400), not_found (404) for a host nobody sells on.
 */
export async function understandRequest(
  deps: BuyerDeps,
  request: LicenceRequest,
  requestHost: string | null,
): Promise<UnderstoodRequest> {
  const scope = parseScope(request.scope);
  const terms = parseTerms(request.terms);
  const startsAt = request.startsAt ?? null;
  const period = parsePeriod(request.periodDays, startsAt, deps.clock());
  const named = nameHost(request, scope.host);
  const host = named ?? normaliseHost(requestHost ?? '');
  const site = host === '' ? null : await findTenantOfHost(deps.database, host);
  if (named === null && site?.isRouted !== true) {
    throw new ServiceError('invalid_parameter', 'host is needed: the site the licence is for', { parameter: 'host' });
  }
  const tenant = site === null ? null : await deps.snapshots.tenant(site.tenantId, site.version);
  if (!tenant || tenant.status === 'closed') throw new ServiceError('not_found', 'there is no such site');
  const holder = request.holder === undefined ? null : requireWallet(request.holder, 'holder');
  const { kind, periodDays } = request;
  const asked = [tenant.tenantId, host, scope.patterns, terms, periodDays, startsAt, kind, holder];
  const requestHash = createHash('sha256').update(JSON.stringify(asked)).digest('base64url');
  const compiled = scope.patterns.map((pattern) => compilePattern(pattern));
  return { tenant, host, patterns: scope.patterns, compiled, terms, period, periodDays, kind, holder, requestHash };
}

/** The host a body names; null when it names none. Two that disagree are refused. */
function nameHost({ host, resource }: LicenceRequest, ofScope: string | null): string | null {
  const named = [
    ...(host === undefined ? [] : [normaliseHost(host)]),
    ...(resource === undefined ? [] : [requireResource(resource).host]),
    ...(ofScope === null ? [] : [ofScope]),
  ];
  if (new Set(named).size > 1) {
    throw new ServiceError('invalid_parameter', 'host, resource and scope name different sites', { parameter: 'host' });
  }
  return named[0] ?? null;
}
