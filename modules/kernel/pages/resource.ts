import { ServiceError } from '../errors.ts';
import type { ResourceUrl } from '../hosts/host.ts';
import { buildResource, mergeSlashes, ownsHost, parseResource } from '../hosts/host.ts';
import { isFormOf } from './forms.ts';

/** Longest slug, in characters. */
export const MAX_SLUG_CHARS = 512;

/** The page a call is about: its URL, and its slug, which is null when the path is no article of the tenant. */
export interface Page {
  readonly resource: ResourceUrl;
  readonly slug: string | null;
}

/** What naming a page needs to know of a tenant. */
export interface TenantPages {
  readonly hosts: readonly string[];
  /** Null: the whole site is articles. An empty list: nothing is. */
  readonly articlePrefixes: readonly string[] | null;
  /** What other addresses of an article add to its own; none unless told. */
  readonly forms?: readonly string[];
}

/** Parses a resource URL. Throws invalid_resource (400). */
export function requireResource(text: string): ResourceUrl {
  const resource = parseResource(text);
  if (!resource) throw new ServiceError('invalid_resource', 'resource must be an http or https URL', { parameter: 'resource' });
  return resource;
}

/** Throws resource_not_owned (403) unless the host belongs to the tenant. */
export function requireOwned(hosts: readonly string[], host: string): void {
  if (!ownsHost(hosts, host)) throw new ServiceError('resource_not_owned', 'this key is not bound to the site of the resource');
}

/**
 * The page that `resource` and `slug` name together: a slug alone is on the first host, a
 * resource alone has the slug after its article prefix, and a form of an article may be named with the article's slug. Throws 400 when neither is given, the resource is unusable or they
 * disagree, and 403 when the host is not the tenant's. An empty slug counts as none.
 */
export function locatePage(tenant: TenantPages, given: { readonly resource?: string; readonly slug?: string }): Page {
  const slug = given.slug === undefined || given.slug === '' ? undefined : plainSlug(given.slug);
  if (given.resource === undefined) {
    if (slug === undefined) throw new ServiceError('invalid_parameter', 'resource or slug is needed', { parameter: 'resource' });
    return pageOfSlug(tenant, slug);
  }
  const resource = requireResource(given.resource);
  requireOwned(tenant.hosts, resource.host);
  const found = slugOf(tenant.articlePrefixes, resource.path);
  if (slug !== undefined && slug !== found && !isFormOf(found ?? '', slug, tenant.forms ?? [])) {
    throw new ServiceError('invalid_parameter', 'resource and slug name different pages', { parameter: 'slug' });
  }
  return { resource, slug: found };
}

/** The slug of a path: what follows the longest article prefix that fits; null when none fits or nothing follows. */
export function slugOf(articlePrefixes: readonly string[] | null, path: string): string | null {
  let longest: string | null = null;
  for (const given of articlePrefixes ?? ['/']) {
    const prefix = normalisePrefix(given);
    if (path.startsWith(prefix) && path.length > prefix.length && prefix.length > (longest?.length ?? 0)) longest = prefix;
  }
  return longest === null ? null : path.slice(longest.length);
}

/** A slug in the one form we compare, as the plain path of its page gives it: repeated slashes are one, and none opens it. */
export function plainSlug(slug: string): string {
  return mergeSlashes(slug).replace(/^\//, '');
}

/** An article prefix in the one form we compare: begins and ends with a slash. One that is in it already costs next to nothing. */
export function normalisePrefix(prefix: string): string {
  if (prefix.startsWith('/') && prefix.endsWith('/') && !prefix.includes('//')) return prefix;
  return mergeSlashes(`/${prefix}/`);
}

/** The slug under which a licence stands in the ledger: it is no page. */
export function licenceSlug(paymentId: string): string {
  return `licence:${paymentId}`;
}

/** Lengths of the parts of a payment's id. */
const ID_PARTS = [8, 4, 4, 4, 12];

/** The same as `isLicenceSlug`, as a pattern of SQL's LIKE. */
export const LICENCE_SLUG_LIKE = licenceSlug(ID_PARTS.map((length) => '_'.repeat(length)).join('-'));

const LICENCE_SLUG = new RegExp(`^${licenceSlug(ID_PARTS.map((length) => `.{${length}}`).join('-'))}$`, 'su');

/** True of the slug of a licence in the ledger; every other one is a page's. */
export function isLicenceSlug(slug: string): boolean {
  return LICENCE_SLUG.test(slug);
}

/** The article that a slug alone means on a host: under the first prefix. Null where that is no article, or one of another slug. */
export function articleOf(articlePrefixes: readonly string[] | null, host: string, slug: string): ResourceUrl | null {
  const [prefix] = articlePrefixes ?? ['/'];
  if (prefix === undefined || slug === '' || slug.length > MAX_SLUG_CHARS) return null;
  const resource = parseResource(buildResource(host, `${normalisePrefix(prefix)}${slug}`).url);
  return resource && slugOf(articlePrefixes, resource.path) === slug ? resource : null;
}

function pageOfSlug(tenant: TenantPages, slug: string): Page {
  const [host] = tenant.hosts;
  if (host === undefined) throw new ServiceError('resource_not_owned', 'this site has no verified host');
  if (tenant.articlePrefixes?.length === 0) return { resource: buildResource(host, `/${slug}`), slug: null };
  const resource = articleOf(tenant.articlePrefixes, host, slug);
  if (!resource) throw new ServiceError('invalid_parameter', 'slug is not an article’s slug', { parameter: 'slug' });
  return { resource, slug };
}
