import { isEntitled } from '../domain/licence.ts';
import { requireOwned, requireResource, slugOf } from '../domain/resource.ts';
import type { CrossingKind } from '../domain/terms.ts';
import type { Caller, PublisherDeps } from './publisher.ts';
import { presentPricing } from './quotes.ts';

/** What a publisher asks about a licence it was shown. */
export interface LicenceQuestion {
  readonly license: string;
  readonly resource: string;
  readonly slug: string;
  readonly kind: CrossingKind;
}

/**
 * Whether a licence entitles to a page, by the minting keys and the rules of decisions §2. Anything wrong with the licence is
 * a plain `false`. Throws only about the question: invalid_resource (400), resource_not_owned (403). Reads nothing but memory
 * besides the caller's key.
 */
export async function checkLicence(
  deps: Pick<PublisherDeps, 'keyring' | 'clock' | 'baseUrl'>,
  { tenant, key }: Caller,
  question: LicenceQuestion,
): Promise<boolean> {
  const resource = requireResource(question.resource);
  requireOwned(tenant.hosts, resource.host);
  const found = slugOf(presentPricing(tenant).articlePrefixes, resource.path);
  if (found !== null && found !== question.slug) return false;
  const claims = await deps.keyring.verify(question.license);
  if (!claims) return false;
  return isEntitled(claims, {
    issuer: issuerOf(deps, tenant),
    host: resource.host,
    path: resource.path,
    slug: question.slug,
    kind: question.kind,
    nowSeconds: Math.floor(deps.clock() / 1000),
    mode: key.mode,
  });
}

/** Who signs a tenant's licences: the issuer it names, else our own address. */
export function issuerOf(deps: Pick<PublisherDeps, 'baseUrl'>, tenant: { readonly licenseIssuer: string | null }): string {
  return tenant.licenseIssuer ?? deps.baseUrl;
}
