/** Pages of a site: what each costs, and who has a licence for it. */
import type { Quote } from '../client.ts';
import { categoryOf } from '../core/category.ts';
import { plainPath, resourceOf, slugOf } from '../core/page.ts';
import type { SiteRequest } from '../request.ts';
import type { Address } from '../routes.ts';
import type { Signed } from './agents.ts';
import type { Licences, Worth } from './licences.ts';
import type { Proof, Proofs } from './proofs.ts';
import type { Asker, Price, Quotes } from './quotes.ts';
import type { SiteConfig } from './siteConfig.ts';

/** A page as it is asked for. */
export interface Page extends Address {
  readonly kind: 'read' | 'citation';
  readonly userAgent: string;
  /** What its signature says about who asks for it; nothing until it was looked at. */
  readonly signed: Signed;
  /** The plain path of the form in which it is asked for; null: its own address. */
  readonly form: string | null;
}

/** Knows a site's pages. */
export interface Pages {
  /** The page under that spelling which has a price, where there are several; of a form of an article, the article. */
  located(page: Page): Promise<Page>;
  priceOf(page: Page): Promise<Price>;
  /** What a page costs now, asked anew: a payment for it was refused. */
  priceAgain(page: Page): Promise<Price>;
  worthOf(config: SiteConfig, page: Page, license: string, request: SiteRequest): Promise<Worth>;
  /** What a wallet that shows itself (the header SIGN-IN-WITH-X) bought of the page. */
  proven(config: SiteConfig, page: Page, header: string): Promise<Proof>;
}

interface Parts {
  readonly quotes: Quotes;
  readonly licences: Licences;
  readonly proofs: Proofs;
}

/** What the service takes for a host: of anything else it would refuse the question. */
const HOST = /^[a-z0-9.-]{0,252}[a-z0-9-]$/;

/** Opens it. */
export function openPages({ quotes, licences, proofs }: Parts): Pages {
  const askerOf = ({ userAgent, signed: { verified, verifiedAgent = '' } }: Page): Asker => {
    const category = categoryOf(userAgent);
    const agent = verified === true && HOST.test(verifiedAgent) ? { agent: verifiedAgent } : {};
    return { ...agent, ...(category === null ? {} : { category }) };
  };
  const priceOf = (page: Page): Promise<Price> => quotes.find(page.resource, page.kind, askerOf(page));
  return {
    located: async (page) => {
      if (page.form !== null || (page.spellings.length === 1 && !page.mayBeForm)) return page;
      let found: Page | null = null;
      for (const path of page.spellings) {
        const one = { ...page, path, resource: resourceOf(page.origin, path) };
        const price = await priceOf(one);
        if (price.state === 'priced') return articleOf(one, price.quote);
        if (price.state === 'free' && isNamedFree(price.because)) return one;
        if (price.state !== 'free') found ??= one;
      }
      return found ?? page;
    },
    priceOf,
    priceAgain: (page) => {
      quotes.doubt(page.resource, page.kind, askerOf(page));
      return priceOf(page);
    },
    proven: (config, page, header) => proofs.judge(page, slugOf(config.articlePrefixes, page.path) ?? page.path, header),
    worthOf: (config, { path, kind, resource, origin: base }, license, request) => {
      const proof = request.header('x-licence-proof');
      const slug = slugOf(config.articlePrefixes, path) ?? path;
      const { hostname } = new URL(base);
      const asked = { license, issuer: config.issuer, host: hostname, resource, slug, kind };
      return licences.worthOf({ ...asked, ...(proof ? { proof } : {}) });
    },
  };
}

/** The page that a quote is for: the address that was asked about, or the article that it is a form of. */
function articleOf(page: Page, { resource = page.resource }: Quote): Page {
  const path = plainPath(new URL(resource).pathname);
  return path === page.path ? page : { ...page, path, resource: resourceOf(page.origin, path), form: page.path };
}

/** True where the owner names the very page free: it is this spelling of it that stands at the service. */
function isNamedFree(because: string | null): boolean {
  return because === 'free_slug' || because === 'free_rule';
}
