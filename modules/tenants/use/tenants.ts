import { randomUUID } from 'node:crypto';
import type { Transactional } from '../../../db/database.ts';
import type { Networks } from '../../../platform/chain/network.ts';
import { checkOutboundUrl } from '../../../platform/outbound/url.ts';
import type { Plan, TenantStatus } from '../../kernel/access/key.ts';
import { ServiceError } from '../../kernel/errors.ts';
import { normaliseHost } from '../../kernel/hosts/host.ts';
import { parseName } from '../../kernel/hosts/hostname.ts';
import { parseIssuer, parseOrigin } from '../../kernel/hosts/origin.ts';
import type { Pricing } from '../../pricing/rules/pricing.ts';
import { requireFloor, requireRuleFloor, validatePricing } from '../../pricing/rules/pricing.ts';
import { insertTenant, replacePricing, updateTenant } from '../store/tenants.ts';
import { payeeRule } from './payees.ts';

/** What is set is judged by; with the networks, credits that a router of theirs would refuse are refused here already. */
export interface PricingLimits {
  readonly networks?: Pick<Networks, 'contracts'>;
  /** The lowest price that may be set, micro-USDC; none: any. */
  readonly priceFloorMicro?: bigint;
}

/** What writing tenants needs. */
export interface TenantDeps extends PricingLimits {
  readonly database: Transactional;
}

/** What a tenant charges; members left out are null. Decimals as text. */
export type PricingInput = Pick<Pricing, 'priceUsdc'> & Partial<Pricing>;

/** A site to create; its hosts count as verified, the first is the default of quotes by slug. */
export interface TenantInput {
  readonly tenantId?: string;
  readonly hosts: readonly string[];
  /** The site begins without a host: its owner has to prove one. */
  readonly mayLackHosts?: true;
  /** Who names the owner; left out: the identity provider that the service runs with. */
  readonly ownerIssuer?: string;
  readonly status?: TenantStatus;
  readonly plan?: Plan | null;
  readonly ownerUserId?: string;
  readonly originUrl?: string;
  readonly licenseIssuer?: string;
  readonly pricing: PricingInput;
}

/**
 * Creates a site. Throws invalid_parameter, which names what is wrong (`host`, `origin`, `issuer`, or what of its pricing), and
 * conflict when a host belongs to another site or the id is taken.
 */
export async function createTenant(deps: TenantDeps, input: TenantInput): Promise<{ readonly tenantId: string }> {
  const tenantId = input.tenantId ?? randomUUID();
  const hosts = [...new Set(input.hosts.map(requireHost))];
  if (hosts.length === 0 && !input.mayLackHosts) {
    throw new ServiceError('invalid_parameter', 'a site needs at least one host name', { parameter: 'host' });
  }
  const pricing = completePricing(input.pricing);
  requirePricing(deps, pricing, input.pricing);
  const row = {
    tenantId,
    hosts,
    status: input.status ?? 'active',
    plan: input.plan ?? null,
    ownerUserId: input.ownerUserId ?? null,
    ownerIssuer: input.ownerIssuer ?? null,
    originUrl: input.originUrl === undefined ? null : requireOrigin(input.originUrl),
    licenseIssuer: input.licenseIssuer === undefined ? null : requireIssuer(input.licenseIssuer),
    pricing,
  };
  try {
    await insertTenant(deps.database, row, new Date());
  } catch (error) {
    if ((error as { code?: unknown }).code === '23505') throw new ServiceError('conflict', 'a host or the id is taken');
    throw error;
  }
  return { tenantId };
}

/**
 * Changes what a site charges, as a new pricing version; the old one ends at that moment and is honoured 10 minutes longer
 * (safety 17). Members left out stay. Throws invalid_parameter, and not_found.
 */
export async function setPricing(
  deps: TenantDeps,
  request: { readonly tenantId: string; readonly pricing: Partial<PricingInput> },
): Promise<{ readonly version: number }> {
  const result = await replacePricing(deps.database, request.tenantId, new Date(), (current) => {
    const next = completePricing({ ...current, ...request.pricing });
    requirePricing(deps, next, request.pricing);
    return next;
  });
  if (!result) throw new ServiceError('not_found', 'there is no such site');
  return result;
}

/** Sets a site's status; a suspended site's keys answer 403, a closed one's 401. Throws not_found. */
export async function setTenantStatus(
  deps: Pick<TenantDeps, 'database'>,
  { tenantId, status }: { readonly tenantId: string; readonly status: TenantStatus },
): Promise<void> {
  if (await updateTenant(deps.database, tenantId, { status }, new Date())) return;
  throw new ServiceError('not_found', 'there is no such site');
}

/** Sets a site's plan; below Studio every key answers 403 with `upgrade`, and works again after the upgrade. Throws not_found. */
export async function setTenantPlan(
  deps: Pick<TenantDeps, 'database'>,
  { tenantId, plan }: { readonly tenantId: string; readonly plan: Plan | null },
): Promise<void> {
  if (await updateTenant(deps.database, tenantId, { plan }, new Date())) return;
  throw new ServiceError('not_found', 'there is no such site');
}

/** A pricing with every member; what was left out is null. */
export function completePricing(input: PricingInput): Pricing {
  return {
    priceUsdc: input.priceUsdc,
    citationMultiplier: input.citationMultiplier ?? null,
    articlePrefixes: input.articlePrefixes ?? null,
    creditsInline: input.creditsInline ?? null,
    creditsFreeSlugs: input.creditsFreeSlugs ?? null,
    creditsApiUrl: input.creditsApiUrl ?? null,
    defaultPayee: input.defaultPayee ?? null,
    rules: input.rules ?? null,
    readAgainHours: input.readAgainHours ?? null,
  };
}

/**
 * What is charged can be quoted, and its credits API may be asked (checked when saved, and again when sent). A price is held against the floor
 * when it is what is `set`: one that was stored below it does not keep its site from changing anything else.
 */
export function requirePricing(limits: PricingLimits, pricing: Pricing, set: Partial<PricingInput>): void {
  validatePricing(pricing, payeeRule(limits.networks?.contracts));
  const setsPrice = set.priceUsdc !== undefined || set.citationMultiplier !== undefined;
  if (setsPrice && limits.priceFloorMicro !== undefined) requireFloor(pricing, limits.priceFloorMicro);
  const setsRules = set.rules !== undefined || set.citationMultiplier !== undefined;
  if (setsRules && limits.priceFloorMicro !== undefined) requireRuleFloor(pricing, limits.priceFloorMicro);
  const { creditsApiUrl } = pricing;
  if (creditsApiUrl === null) return;
  if (!checkOutboundUrl(creditsApiUrl, { allowLoopback: false }).ok || /[?#]/.test(creditsApiUrl)) {
    throw new ServiceError('invalid_parameter', 'credits_api_url: must be an https URL of a public host, without a query', {
      parameter: 'credits_api_url',
    });
  }
}

/** A host name in A-labels, lower case, without the root's dot. Throws invalid_parameter, which says what is wrong with it. */
export function requireHost(text: string): string {
  const parsed = parseName(normaliseHost(text));
  if (!parsed.ok) throw new ServiceError('invalid_parameter', `host: ${parsed.sentence}`, { parameter: 'host' });
  return parsed.host;
}

function requireOrigin(text: string): string {
  const origin = parseOrigin(text);
  if (origin !== null) return origin;
  const sentence = 'origin: must be https:// and a host name, with a port or without, and no path (http on a loopback host)';
  throw new ServiceError('invalid_parameter', sentence, { parameter: 'origin' });
}

function requireIssuer(text: string): string {
  const issuer = parseIssuer(text);
  if (issuer !== null) return issuer;
  const sentence =
    'issuer: must be an https URL of at most 255 characters, its host in lower case, without user, query and fragment (http on a loopback host)';
  throw new ServiceError('invalid_parameter', sentence, { parameter: 'issuer' });
}

/** Who signs a site's licences: the issuer it names, else our own address. */
export function issuerOf(deps: { readonly baseUrl: string }, site: { readonly licenseIssuer: string | null }): string {
  return site.licenseIssuer ?? deps.baseUrl;
}
