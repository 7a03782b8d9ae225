/** Some pages of the site, and what the service says of each: has it a price, and if not, why not. */
import { isInScope, pathnameOf, plainPath } from '../core/page.ts';
import type { Robots } from './robotsText.ts';
import type { GateConfig } from './site.ts';
import { pathOn, readSitemap, spread } from './sitemap.ts';
import type { Reply, Visit } from './visitor.ts';
import type { Told, World } from './world.ts';

/** What the service says of a page; `free`: without a reason. */
export type PageVerdict = 'priced' | 'no_credits' | 'free_slug' | 'out_of_scope' | 'no_price' | 'free' | 'failed';

/** The pages that were looked at. */
export interface Sample {
  readonly looks: readonly { readonly path: string; readonly verdict: PageVerdict }[];
  /** Why no pages beyond the named ones were found; null when some were. */
  readonly missing: 'no_sitemap' | 'no_pages_in_scope' | null;
}

const MAX_PAGES = 20;
const SITEMAP_BYTES = 1_048_576;
const REASONS: readonly PageVerdict[] = ['no_credits', 'free_slug', 'out_of_scope', 'no_price'];

/** Looks at the named pages and at some of the sitemap, 20 together. */
export async function takeSample(options: {
  readonly site: URL;
  readonly pages: readonly string[];
  readonly visit: Visit;
  readonly config: GateConfig | null;
  readonly robots: World['robots'];
  readonly quote: (path: string) => Promise<Told | null>;
}): Promise<Sample> {
  const { site, pages, visit, config, quote } = options;
  const found = await findPages(site, visit, (await options.robots()).robots);
  const inScope = (found ?? []).filter(
    (path) => !pages.includes(path) && (config === null || isInScope(config, plainPath(pathnameOf(path) ?? path))),
  );
  const chosen = [...pages, ...spread(inScope, Math.max(0, MAX_PAGES - pages.length))].slice(0, MAX_PAGES);
  const looks: Sample['looks'][number][] = [];
  for (const path of chosen) looks.push({ path, verdict: verdictOf(await quote(path)) });
  return { looks, missing: found === null ? 'no_sitemap' : inScope.length === 0 ? 'no_pages_in_scope' : null };
}

/** What a quote says of its page. */
export function verdictOf(quote: Told | null): PageVerdict {
  if (!quote?.ok) return 'failed';
  if (quote.status !== 204) return 'priced';
  const because = quote.headers.get('x-svc-free-because');
  return REASONS.find((reason) => reason === because) ?? 'free';
}

/** Paths of the site's sitemap, or of the first one of a list of sitemaps; null where there is none. */
async function findPages(site: URL, visit: Visit, robots: Robots | null): Promise<readonly string[] | null> {
  const named = robots?.sitemaps.flatMap((address) => pathOn(site.host, address) ?? []) ?? [];
  const read = async (path: string) => {
    const reply: Reply = await visit(path, { as: 'googlebot', maxBytes: SITEMAP_BYTES });
    return reply.came && reply.status === 200 ? readSitemap(reply.body) : null;
  };
  const pathsOf = (addresses: readonly string[]): readonly string[] => addresses.flatMap((one) => pathOn(site.host, one) ?? []);
  const first = await read(named[0] ?? '/sitemap.xml');
  if (!first?.isIndex) return first && pathsOf(first.addresses);
  const [child] = pathsOf(first.addresses);
  const second = child === undefined ? null : await read(child);
  return second && pathsOf(second.addresses);
}
