/** The page of a request: its public address, its price and who has a licence for it. */
import { resourceOf, slugOf, spellingsOf } from './core/page.ts';
import type { Licences } from './licences.ts';
import type { Price, Quotes } from './quotes.ts';
import type { SiteRequest } from './request.ts';
import type { SiteConfig } from './siteConfig.ts';

const MAX_RESOURCE_CHARS = 2_048;

/** A page as the service knows it. */
export interface Page {
  /** In plain form. */
  readonly path: string;
  readonly kind: 'read' | 'citation';
  readonly origin: string;
  readonly resource: string;
  /** Paths that a server might mean by this one, itself included. */
  readonly spellings: readonly string[];
  readonly userAgent: string;
}

/** Knows a site's pages. */
export interface Pages {
  /** The page of a path; null when no host of the site is known or the address is longer than one that can have a price. */
  at(config: SiteConfig | null, request: SiteRequest, page: Pick<Page, 'path' | 'kind'>): Page | null;
  /** The page under that spelling which has a price, where there are several. */
  located(page: Page): Promise<Page>;
  priceOf(page: Page): Promise<Price>;
  /** What a page costs now, asked anew: a payment for it was refused. */
  priceAgain(page: Page): Promise<Price>;
  isLicensed(config: SiteConfig, page: Page, license: string, request: SiteRequest): Promise<boolean>;
}

/** Opens it. `origin`: the site's own word for its public address. */
export function openPages(deps: {
  readonly quotes: Quotes;
  readonly licences: Licences;
  readonly origin: string | undefined;
}): Pages {
  const { quotes, licences, origin } = deps;
  const priceOf = ({ resource, kind }: Page): Promise<Price> => quotes.find(resource, kind);
  return {
    at: (config, request, { path, kind }) => {
      const base = origin ?? originOf(config, request);
      if (base === null) return null;
      const resource = resourceOf(base, path);
      if (resource.length > MAX_RESOURCE_CHARS) return null;
      const spellings = config ? spellingsOf(config.articlePrefixes, path) : [path];
      return { path, kind, origin: base, resource, spellings, userAgent: request.header('user-agent') ?? '' };
    },
    located: async (page) => {
      if (page.spellings.length === 1) return page;
      let found: Page | null = null;
      for (const path of page.spellings) {
        const one = { ...page, path, resource: resourceOf(page.origin, path) };
        const price = await priceOf(one);
        if (price.state === 'priced' || (price.state === 'free' && price.because === 'free_slug')) return one;
        if (price.state !== 'free') found ??= one;
      }
      return found ?? page;
    },
    priceOf,
    priceAgain: (page) => {
      quotes.doubt(page.resource, page.kind);
      return priceOf(page);
    },
    isLicensed: (config, { path, kind, resource, origin: base }, license, request) => {
      const proof = request.header('x-licence-proof');
      const slug = slugOf(config.articlePrefixes, path) ?? path;
      const { hostname } = new URL(base);
      const asked = { license, issuer: config.issuer, host: hostname, resource, slug, kind };
      return licences.isGood({ ...asked, ...(proof ? { proof } : {}) });
    },
  };
}

/** A host that a request names counts when it is the site's; before the site's hosts are known, it is only what reports name. */
function originOf(config: SiteConfig | null, request: SiteRequest): string | null {
  const named = `https://${request.header('host') ?? ''}`;
  const host = URL.canParse(named) ? new URL(named).hostname : null;
  if (config === null) return host === null ? null : `https://${host}`;
  const [first] = config.hosts;
  const own = host !== null && config.hosts.includes(host) ? host : first;
  return own === undefined ? null : `https://${own}`;
}
