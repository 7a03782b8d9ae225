/** Quotes of many pages at once. */

import { openSlices } from '../../../platform/pacing/slices.ts';
import { isServiceError } from '../../kernel/errors.ts';
import type { FreeBecause } from '../../pricing/rules/pricing.ts';
import type { Quote } from '../../pricing/rules/quote.ts';
import type { CreditsBook } from './credits/book.ts';
import { withCredits } from './credits/book.ts';
import type { LookedUpFor } from './credits/lookups.ts';
import type { PageRequest, QuoteDeps } from './issue.ts';
import { agentRefused, findPage, issueQuote } from './issue.ts';

/** What one page of many costs: a quote, why it is free, or why there is neither. */
export type QuoteOutcome =
  | { readonly state: 'priced'; readonly quote: Quote }
  | { readonly state: 'free'; readonly because: FreeBecause }
  | { readonly state: 'refused' | 'failed'; readonly code: string; readonly error: string };

/** A site's credits API is asked about so many pages at a time, and all of them within the patience of one call. */
const CONCURRENCY = 10;

/**
 * Quotes pages, each by itself, in their order: what one cannot be quoted for says nothing of the others. Authors behind a credits API are waited
 * for until `patienceMs` of the whole call are over; pages after that are credits_unavailable. Rejects for defects only.
 */
export async function quoteMany(
  deps: QuoteDeps & { readonly credits: CreditsBook },
  requests: readonly PageRequest[],
  patienceMs: number,
  by: LookedUpFor = 'site',
): Promise<readonly QuoteOutcome[]> {
  const endsAtMs = Date.now() + patienceMs;
  const outcomes: QuoteOutcome[] = [];
  const waiting = requests.entries();
  // Pages with long paths and 200 rules with stars take milliseconds each.
  const pause = openSlices();
  const work = async (): Promise<void> => {
    for (const [index, request] of waiting) {
      outcomes[index] = await quoteOne({ ...deps, by }, request, Math.max(0, endsAtMs - Date.now()));
      await pause();
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, work));
  return outcomes;
}

async function quoteOne(
  deps: QuoteDeps & { readonly by: LookedUpFor },
  request: PageRequest,
  patienceMs: number,
): Promise<QuoteOutcome> {
  try {
    const { found } = await withCredits(deps.credits, () => findPage(deps, request), patienceMs, deps.by);
    if (found === 'refused') throw agentRefused();
    if (typeof found === 'string') return { state: 'free', because: found };
    return { state: 'priced', quote: issueQuote(deps, found).quote };
  } catch (error) {
    if (!isServiceError(error) || error.kind === 'defect') throw error;
    return { state: error.code === 'agent_refused' ? 'refused' : 'failed', code: error.code, error: error.text };
  }
}
