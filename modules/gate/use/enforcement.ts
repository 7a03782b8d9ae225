import type { Transactional } from '../../../db/database.ts';
import type { EnforcementStatus } from '../../hosts/rules/enforcementStatus.ts';
import { judgeHost } from '../../hosts/rules/enforcementStatus.ts';
import type { Caller } from '../../identity/use/keys/authenticate.ts';
import { ServiceError } from '../../kernel/errors.ts';
import { normalisePrefix, requireOwned, requireResource } from '../../kernel/pages/resource.ts';
import type { PublisherDeps } from '../../quotes/use/deps.ts';
import { presentPricing } from '../../quotes/use/issue.ts';
import { issuerOf } from '../../tenants/use/tenants.ts';
import type { EnforcementSettings } from '../rules/enforcement.ts';
import { DEFAULT_ENFORCEMENT, normaliseEnforcement } from '../rules/enforcement.ts';
import { findEnforcement, listHostFacts, replaceEnforcement } from '../store/enforcement.ts';
import type { PublishedAddresses } from './addresses.ts';
import { publishedAddresses } from './addresses.ts';

/** The publisher's x402 manifest: how to buy, without a price, a network, an address or a key id. */
export interface Manifest {
  readonly x402Version: 2;
  readonly humansReadFree: true;
  readonly resources: readonly string[];
  readonly payment: { readonly schemes: readonly ['exact']; readonly quoteUrl: string };
  readonly license: { readonly issuer: string; readonly jwksUrl: string };
}

/** Body of GET enforce-config; the same as long as nobody edits the tenant, and no list of addresses is read again. */
export interface EnforcementConfig {
  readonly enforcement: EnforcementSettings & {
    readonly articlePrefixes: readonly string[];
    readonly licenseIdentity: string;
    readonly manifest: Manifest;
  };
  readonly manifest: Manifest;
  readonly version: number;
  /** Where they were asked for: when each list was last read, and what they hold where the asker has another version. */
  readonly addresses?: PublishedAddresses;
}

/**
 * What the gate of the caller's site decides by. With a resource, the manifest names that host alone; with the version of its addresses, it has what is
 * newer of them. Throws invalid_resource (400), resource_not_owned (403), database_unavailable.
 */
export async function enforcementConfig(
  deps: Pick<PublisherDeps, 'database' | 'baseUrl'>,
  { tenant }: Caller,
  { resource, addresses }: { readonly resource?: string; readonly addresses?: string } = {},
): Promise<EnforcementConfig> {
  const named = resource === undefined ? null : requireResource(resource).host;
  if (named !== null) requireOwned(tenant.hosts, named);
  const settings = (await findEnforcement(deps.database, tenant.tenantId)) ?? DEFAULT_ENFORCEMENT;
  const articlePrefixes = (presentPricing(tenant).articlePrefixes ?? ['/']).map(normalisePrefix);
  const hosts = named === null ? tenant.hosts : [named];
  const issuer = issuerOf(deps, tenant);
  const manifest: Manifest = {
    x402Version: 2,
    humansReadFree: true,
    resources: hosts.flatMap((host) => articlePrefixes.map((prefix) => `https://${host}${prefix}*`)),
    payment: { schemes: ['exact'], quoteUrl: `${deps.baseUrl}/_svc/quote` },
    license: { issuer, jwksUrl: `${deps.baseUrl}/.well-known/jwks.json` },
  };
  const { gateScope, forms, seoAllowlist, crawlerPolicy, visitorClasses } = settings;
  const { allow, charge, block } = crawlerPolicy;
  return {
    enforcement: {
      articlePrefixes,
      gateScope,
      forms,
      seoAllowlist,
      crawlerPolicy: { allow, charge, block },
      visitorClasses,
      licenseIdentity: issuer,
      manifest,
    },
    manifest,
    version: tenant.version,
    ...(addresses === undefined ? {} : { addresses: await publishedAddresses(deps, Number(addresses)) }),
  };
}

/** Changes what a site's gate decides by; its version goes up. Throws invalid_parameter, not_found. */
export async function setEnforcement(
  deps: { readonly database: Transactional },
  request: { readonly tenantId: string; readonly settings: EnforcementSettings },
): Promise<void> {
  const settings = normaliseEnforcement(request.settings);
  const found = await replaceEnforcement(deps.database, request.tenantId, settings, new Date());
  if (!found) throw new ServiceError('not_found', 'there is no such site');
}

/** Who enforces on each host of the caller's site; reading it is no sign of life. Throws database_unavailable. */
export async function enforcementStatus(
  deps: Pick<PublisherDeps, 'database' | 'clock'>,
  tenantId: string,
): Promise<{ readonly hosts: readonly EnforcementStatus[]; readonly attention: boolean }> {
  const nowMs = deps.clock();
  const facts = await listHostFacts(deps.database, tenantId, new Date(nowMs));
  const hosts = facts.map((host) => judgeHost(host, nowMs));
  return { hosts, attention: hosts.some(({ attention }) => attention) };
}
