/** Pages of a site by its sitemap. Text of a stranger: no parser that could be made to expand anything, and no pattern that backtracks. */

import { urlOf } from './site.ts';

/** What a sitemap holds: addresses of pages, or of further sitemaps. */
export interface SitemapText {
  readonly isIndex: boolean;
  readonly addresses: readonly string[];
}

const MAX_ADDRESSES = 5_000;

/** Reads the `<loc>` entries of a sitemap, at most 5,000; null for a text that is none. */
export function readSitemap(text: string): SitemapText | null {
  const isIndex = /<sitemapindex[\s>]/i.test(text);
  if (!isIndex && !/<urlset[\s>]/i.test(text)) return null;
  const addresses: string[] = [];
  for (let at = text.indexOf('<loc>'); at !== -1 && addresses.length < MAX_ADDRESSES; at = text.indexOf('<loc>', at + 1)) {
    const end = text.indexOf('<', at + 5);
    if (end === -1) break;
    addresses.push(unescapeXml(text.slice(at + 5, end).trim()));
  }
  return { isIndex, addresses };
}

/** The path of an address on this host, query included; null for another host's or one that cannot be read. */
export function pathOn(host: string, address: string): string | null {
  const url = urlOf(address);
  return url !== null && /^https?:$/.test(url.protocol) && url.host === host ? `${url.pathname}${url.search}` : null;
}

/** At most `count` entries of a list, evenly over all of it, so that not only the newest pages are looked at. */
export function spread<T>(list: readonly T[], count: number): readonly T[] {
  if (list.length <= count) return list;
  return Array.from({ length: count }, (_, index) => list[Math.floor((index * list.length) / count)] as T);
}

function unescapeXml(text: string): string {
  return text.replace(/&(amp|lt|gt|quot|apos);/g, (_, name: string) => CHARACTERS[name] ?? '');
}

const CHARACTERS: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };
