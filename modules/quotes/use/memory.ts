import { LRUCache } from 'lru-cache';
import type { TenantSnapshot } from '../../identity/use/tenantSnapshots.ts';
import type { FoundPage } from './issue.ts';

/**
 * Pages by the words in which they were asked for, so that the next call in the same words need not read them again. Kept with
 * the tenant's copy they were found in: when the tenant changes, the copy is another one and everything here is forgotten.
 */
const pages = new WeakMap<TenantSnapshot, LRUCache<string, FoundPage>>();
const MAX_PAGES = 2_000;
/** Longer questions are read every time. */
const MAX_WORDS_CHARS = 1_024;

/** The page that was asked for in these words before; undefined when it has to be found again, as after a rule of its price began or ended. */
export function rememberedPage(tenant: TenantSnapshot, words: string, nowMs: number): FoundPage | undefined {
  const page = pages.get(tenant)?.get(words);
  return page && (page.untilMs === null || nowMs < page.untilMs) ? page : undefined;
}

/** Remembers a page that lasts as long as the tenant's copy; any other is left alone. */
export function rememberPage(tenant: TenantSnapshot, words: string, page: FoundPage): void {
  if (!page.isLasting || words.length > MAX_WORDS_CHARS) return;
  const known = pages.get(tenant) ?? new LRUCache<string, FoundPage>({ max: MAX_PAGES });
  pages.set(tenant, known);
  known.set(words, page);
}
