import { microOf } from './usdc.ts';

/** Codes of `crawler-error` (pay per crawl of Cloudflare) that our answers have as well, with the status that belongs to each. */
export type CrawlerError = 'CrawlerForbidden' | 'InvalidCrawlerMaxPrice' | 'InvalidCrawlerExactPrice';

/**
 * What a 402 says of the price that its reader named: the most that he would pay is less than the price, or the exact sum is another one.
 * Null: he named none, or one that fits, which moves no money either; and where that vocabulary has a 400 (both headers, no amount), which
 * we do not answer. `price` in micro-USDC.
 */
export function crawlerErrorOf(
  price: number,
  named: { readonly max: string | null | undefined; readonly exact: string | null | undefined },
): CrawlerError | null {
  const { max, exact } = { max: named.max || null, exact: named.exact || null };
  if (max !== null && exact !== null) return null;
  const micro = microOf(max ?? exact ?? '');
  if (micro === null) return null;
  if (max !== null) return micro < price ? 'InvalidCrawlerMaxPrice' : null;
  return micro === price ? null : 'InvalidCrawlerExactPrice';
}
