import { isServiceError } from '../../../kernel/errors.ts';
import type { PageRequest, QuoteDeps } from '../issue.ts';
import { findPage, offerable } from '../issue.ts';
import type { Offer } from './build.ts';
import type { ExtensionDeps } from './extensions.ts';
import { buildPageOffer } from './page.ts';

/**
 * The present offer of a page with `error` in it, for a buyer who was refused: made of the prepared quote in memory, so that a refusal costs no question
 * to the database or to a credits API. Null when the page is free, or its authors are not in memory or cannot be paid now: then GET quote says
 * what may be done.
 */
export function findPresentOffer(
  deps: Pick<QuoteDeps, 'networks' | 'credits' | 'isAway' | 'snapshots' | 'clock'> & ExtensionDeps,
  request: PageRequest,
  error: string,
): Offer | null {
  try {
    const { found } = findPage(deps, request);
    if (typeof found === 'string') return null;
    const { base: quote, terms, destinations } = offerable(deps, found);
    return buildPageOffer(deps, { quote, terms, destinations }, { error });
  } catch (failure) {
    if (isServiceError(failure)) return null;
    throw failure;
  }
}
