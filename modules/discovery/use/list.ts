/** The public list of what is sold through us, over the sites whose owners want to be found. */

import { normalisePrefix } from '../../kernel/pages/resource.ts';
import type { ManifestItem } from '../../pricing/rules/manifest.ts';
import { classItem, pageItem } from '../../pricing/rules/manifest.ts';
import { bazaarOf } from '../../quotes/rules/bazaar.ts';
import type { PublisherDeps } from '../../quotes/use/deps.ts';
import { presentPricing } from '../../quotes/use/issue.ts';
import type { ListedPlace, PlaceKey } from '../../tenants/store/publicList.ts';
import { countListing, readListing } from '../../tenants/store/publicList.ts';
import type { ListedFilter, ListedResource } from '../rules/listing.ts';
import { isAskedFor } from '../rules/listing.ts';
import { changedAtMs, ownPages, unnamedDestinations } from './manifest.ts';
import type { DocumentSite } from './site.ts';

export type { PlaceKey } from '../../tenants/store/publicList.ts';

/** Places looked at for one answer of a search; a caller who wants more comes back with the cursor. */
const MAX_LOOKED_AT = 200;
/** How long the size of the list is remembered. */
const COUNTED_MS = 60_000;

/** A page of the list. */
export interface ListedPage {
  readonly entries: readonly ListedResource[];
  /** Places of the whole list, whatever was filtered; remembered for a minute, yet never less than this answer has come to. */
  readonly total: number;
}

/**
 * Entries from a place of the list on: `limit` places are looked at, so that a caller who goes on by `limit` meets each once, under any filter.
 * Throws database_unavailable.
 */
export async function listResources(
  deps: PublisherDeps,
  { filter, offset, limit }: { readonly filter: ListedFilter; readonly offset: number; readonly limit: number },
): Promise<ListedPage> {
  const places = await readListing(deps.database, { query: null, after: null, offset, limit });
  const entries = await Promise.all(places.map((place) => entryOf(deps, place)));
  return {
    entries: entries.filter((entry) => entry !== null && isAskedFor(entry, filter)) as ListedResource[],
    total: Math.max(await countAll(deps), places.length === 0 ? 0 : offset + places.length),
  };
}

/**
 * Entries whose site says all the words of `query`, or that has this host, from after a cursor on; `next` null: there are no more. Throws
 * database_unavailable.
 */
export async function searchResources(
  deps: PublisherDeps,
  asked: { readonly query: string; readonly filter: ListedFilter; readonly after: PlaceKey | null; readonly limit: number },
): Promise<{ readonly entries: readonly ListedResource[]; readonly next: PlaceKey | null }> {
  const { query, filter, after, limit } = asked;
  const request = { query, after, offset: 0, limit: MAX_LOOKED_AT };
  const places = await readListing(deps.database, request);
  const entries: ListedResource[] = [];
  for (const [index, place] of places.entries()) {
    const entry = await entryOf(deps, place);
    if (entry && isAskedFor(entry, filter)) entries.push(entry);
    const isMore = index + 1 < places.length || places.length === MAX_LOOKED_AT;
    if (entries.length === limit) return { entries, next: isMore ? place.at : null };
  }
  return { entries, next: places.length === MAX_LOOKED_AT ? (places.at(-1)?.at ?? null) : null };
}

const counted = new WeakMap<object, { readonly count: Promise<number>; readonly atMs: number }>();

function countAll({ database, clock }: Pick<PublisherDeps, 'database' | 'clock'>): Promise<number> {
  const known = counted.get(database);
  if (known && Math.abs(clock() - known.atMs) <= COUNTED_MS) return known.count;
  const count = countListing(database);
  counted.set(database, { count, atMs: clock() });
  count.catch(() => counted.delete(database));
  return count;
}

/** The entry of a place: its pattern, or where every page has recipients of its own, the first page there; null when nothing is sold there. */
async function entryOf(
  deps: PublisherDeps,
  { tenantId, version, host, prefix, summary, tags }: ListedPlace,
): Promise<ListedResource | null> {
  const tenant = await deps.snapshots.tenant(tenantId, version);
  if (tenant?.status !== 'active' || !tenant.hosts.includes(host)) return null;
  const site = { tenant, host, pricing: presentPricing(tenant) };
  const atMs = deps.clock();
  const found = itemOf(deps, site, normalisePrefix(prefix), atMs);
  if (!found) return null;
  const { resource, accepts } = found.item;
  const { url, ...about } = resource;
  return {
    resource: url,
    type: 'http',
    x402Version: 2,
    accepts,
    lastUpdated: new Date(changedAtMs(site, atMs)).toISOString(),
    ...about,
    description: summary,
    tags,
    extensions: { bazaar: bazaarOf(null, found.routeTemplate) },
  };
}

function itemOf(
  deps: PublisherDeps,
  site: DocumentSite,
  prefix: string,
  atMs: number,
): { readonly item: ManifestItem; readonly routeTemplate: string | null } | null {
  const { host, pricing } = site;
  const destinations = unnamedDestinations(deps, site);
  const one = pricing.classes(atMs).find((other) => other.prefix === prefix);
  if (one && destinations?.every(({ payTo }) => payTo !== null)) {
    const item = classItem(host, one, destinations);
    return item && { item, routeTemplate: one.routeTemplate };
  }
  const [page] = ownPages(deps, site, { prefix, atMs, limit: 1 });
  return page ? { item: pageItem(host, page), routeTemplate: null } : null;
}
