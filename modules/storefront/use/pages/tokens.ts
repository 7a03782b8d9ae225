/** About how many tokens a model reads in a page: what a buyer gets for its price. Known of pages whose text this process handed on lately. */
import { LRUCache } from 'lru-cache';
import type { ResourceUrl } from '../../../kernel/hosts/host.ts';
import { parseResource, resourceKeyOf } from '../../../kernel/hosts/host.ts';
import type { PageText } from './fetch.ts';

const PAGES = 20_000;
/** Pages change: what was counted a day ago says nothing. */
const KNOWN_MS = 86_400_000;
/** Octets of UTF-8 to one token, near enough for any script; the publisher's package counts Markdown so, too. */
const OCTETS = 4;

const known = new LRUCache<string, number>({ max: PAGES, ttl: KNOWN_MS });

/** About how many tokens a text has. */
export function tokensIn(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / OCTETS);
}

/** Remembers how many tokens a page has, all of it. */
export function noteTokens(resource: ResourceUrl, { text, isCut }: Pick<PageText, 'text' | 'isCut'>): void {
  if (!isCut) known.set(resourceKeyOf(resource), tokensIn(text));
}

/** How many tokens the page at a URL has; null where that is not known. */
export function tokensOf(url: string): number | null {
  const resource = parseResource(url);
  return (resource && known.get(resourceKeyOf(resource))) ?? null;
}
