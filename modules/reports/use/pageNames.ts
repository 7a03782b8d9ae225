import { articleOf, isLicenceSlug } from '../../kernel/pages/resource.ts';
import type { ReadingDeps } from '../../paging/use/deps.ts';
import type { NamedBy } from '../store/earnings/titles.ts';
import { listPageFacts } from '../store/earnings/titles.ts';

/** A page that a person should recognise. */
export interface AskedPage extends NamedBy {
  readonly tenantId: string;
  /** The host it was on, or the site's first one; null: the site has none. */
  readonly host: string | null;
  /** Its path where that is known, percent-encoded. */
  readonly path?: string;
}

/** What people know a page by. A title is anybody's text, a URL begins with http: or https:. */
export interface PageName {
  readonly title: string | null;
  readonly url: string | null;
}

const UNKNOWN: PageName = { title: null, url: null };
const WEB = /^https?:\/\//;

/**
 * Titles and URLs of pages of one site, in their order, in one statement. A URL is the one that the payment bought; without a payment it is
 * the page's path in the catalogue, or else where a quote by slug alone finds it. A licence is no page and has neither. Throws
 * database_unavailable.
 */
export async function namePages({ reading }: ReadingDeps, tenantId: string, pages: readonly AskedPage[]): Promise<PageName[]> {
  const named = pages.filter(({ slug }) => !isLicenceSlug(slug));
  const { facts, articlePrefixes } = await listPageFacts(reading, tenantId, named);
  const names = new Map<AskedPage, PageName>();
  for (const [n, page] of named.entries()) {
    const { title = null, path = null, resource = null } = facts[n] ?? {};
    names.set(page, { title, url: webUrl(resource) ?? urlOn({ path, ...page }, articlePrefixes) });
  }
  return pages.map((page) => names.get(page) ?? UNKNOWN);
}

function webUrl(text: string | null): string | null {
  return text !== null && WEB.test(text) ? text : null;
}

function urlOn(
  { host, slug, path }: Pick<AskedPage, 'host' | 'slug'> & { readonly path: string | null },
  articlePrefixes: readonly string[] | null,
): string | null {
  if (host === null) return null;
  return path === null ? (articleOf(articlePrefixes, host, slug)?.url ?? null) : `https://${host}${path}`;
}
