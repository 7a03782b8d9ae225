/** Quotes of pages of any sites, for callers of the service itself. */
import { isServiceError } from '../../../kernel/errors.ts';
import type { CrossingKind } from '../../../kernel/terms.ts';
import { CREDITS_PATIENCE_MS } from '../../../quotes/use/credits/book.ts';
import type { QuoteDeps } from '../../../quotes/use/issue.ts';
import type { QuoteOutcome } from '../../../quotes/use/many.ts';
import { quoteMany } from '../../../quotes/use/many.ts';
import type { SoldPage } from './seller.ts';
import { findSeller } from './seller.ts';

/**
 * What pages cost, each by itself and in the order asked, for a call from `address`; one of a host that nobody here has proven says so. Rejects for defects and outages only.
 */
export async function quotePages(
  deps: QuoteDeps & Parameters<typeof findSeller>[0],
  urls: readonly string[],
  kind: CrossingKind,
  address: string,
): Promise<readonly QuoteOutcome[]> {
  const found: (SoldPage | QuoteOutcome)[] = [];
  for (const url of urls) found.push(await sellerOrWhyNot(deps, url));
  const sold = found.filter((one) => 'seller' in one);
  const requests = sold.map(({ seller: { tenant }, resource }) => ({ tenant, resource: resource.url, kind }));
  const quotes = (await quoteMany(deps, requests, CREDITS_PATIENCE_MS, { address })).values();
  return found.map((one) => ('seller' in one ? (quotes.next().value as QuoteOutcome) : one));
}

async function sellerOrWhyNot(deps: Parameters<typeof findSeller>[0], url: string): Promise<SoldPage | QuoteOutcome> {
  try {
    return await findSeller(deps, url);
  } catch (error) {
    if (!isServiceError(error) || error.kind === 'defect' || error.kind === 'unavailable') throw error;
    return { state: 'failed', code: error.code, error: error.text };
  }
}
