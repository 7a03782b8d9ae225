import { createHash } from 'node:crypto';
import { isServiceError } from '../../../kernel/errors.ts';
import { coverSteps } from '../../../kernel/pages/cover.ts';
import type { OfferPage, OpenOffer } from '../../../licences/store/offers.ts';
import { dropOpenOffer, findOffer, freezeOffer } from '../../../licences/store/offers.ts';
import type { CataloguePage } from '../../../pricing/rules/catalogue.ts';
import { MAX_PAGES } from '../../../pricing/rules/catalogue.ts';
import type { Refusal } from '../../../settlement/use/answer/refuse.ts';
import type { BuyerDeps } from './deps.ts';
import type { UnderstoodRequest } from './request.ts';

const CHANGED: Refusal = {
  reason: 'quote_expired',
  raw: 'licence_pages_changed',
  sentence: 'the pages of this scope changed after they were offered; here is the current offer',
};

/** The digest of an offer's pages and their prices, by which they are known again. */
export function digestOfPages(pages: readonly OfferPage[]): string {
  const hash = createHash('sha256');
  for (const { path, slug, micro } of pages) hash.update(`${JSON.stringify([path, slug])}${micro}\n`);
  return hash.digest('base64url');
}

/**
 * Writes down the pages of an offer whose payment is about to get its row: exactly those that were offered and priced. Pages that are
 * not the same any more are a refusal before anything moves, and the offer is forgotten; price and legs are the offer's own, whatever
 * was edited meanwhile. Null: they stand; again: changes nothing.
 */
export async function freezePages(deps: BuyerDeps, offer: OpenOffer, request: UnderstoodRequest): Promise<Refusal | null> {
  if (offer.pagesDigest === null) return null;
  const asked = { caller: offer.accountId, tenantId: offer.tenantId };
  const pages = await deps.scopes.inTurn(asked, () => pagesOf(deps, offer, request));
  if (pages === null || digestOfPages(pages) !== offer.pagesDigest) {
    // Frozen is frozen: a call of the same payment, or of another for this offer, may have come before the change.
    if ((await findOffer(deps.database, offer.offerId))?.pagesDigest === null) return null;
    await dropOpenOffer(deps.database, offer);
    return CHANGED;
  }
  await freezeOffer(deps.database, offer, pages);
  return null;
}

/** The pages that the request covers at this moment, each at its part of the offer's price; null when they cannot be those offered. */
async function pagesOf(deps: BuyerDeps, offer: OpenOffer, request: UnderstoodRequest): Promise<readonly OfferPage[] | null> {
  const micro = offer.priceMicro / BigInt(offer.pageCount);
  try {
    const { pages, paths } = await deps.scopes.catalogues.of(deps.database, request.tenant);
    const { places, count } = await deps.scopes.run(coverSteps(paths, request.compiled, MAX_PAGES));
    if (count !== offer.pageCount) return null;
    return places.map((place) => {
      const { path, slug } = pages[place] as CataloguePage;
      return { path, slug, micro };
    });
  } catch (error) {
    if (isServiceError(error) && error.code === 'conflict') return null;
    throw error;
  }
}
