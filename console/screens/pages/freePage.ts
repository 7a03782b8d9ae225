import type { View } from '../../core/html.ts';
import { html, useEffect, useState } from '../../core/html.ts';
import { mutate } from '../../core/mutate.ts';
import { Effect, useReview } from '../../parts/review.ts';
import type { PricedPage } from './documents.ts';
import { lookAt, pricesNow, REMOVE_PAGES_DOCUMENT, SET_FREE_DOCUMENT } from './documents.ts';
import { showPriceEffect } from './showEffect.ts';

/** A change of one row: `of` begins it. */
interface RowChange {
  readonly of: (page: PricedPage) => void;
  readonly dialog: View;
  readonly outcome: () => View;
}

/** Makes a page free, or sells it again: the list of free pages as it is now, with this page or without it. */
export function useFreeChange(done: () => void): RowChange {
  const [page, setPage] = useState<PricedPage | null>(null);
  const isFree = page?.price.freeBecause === 'FREE_SLUG';
  const name = page?.title ?? page?.path ?? '';
  const review = useReview({
    title: isFree ? `Sell ${name}` : `Make ${name} free`,
    look: async () => {
      const { freeSlugs, version } = await pricesNow();
      const others = (freeSlugs ?? []).filter((slug) => slug !== page?.slug);
      const slugs = isFree ? others : [...others, page?.slug ?? ''];
      return { ...(await lookAt({ freeSlugs: slugs })), slugs, version };
    },
    show: showPriceEffect,
    make: ({ slugs, version }) => mutate(SET_FREE_DOCUMENT, { slugs, ifVersion: version }),
    confirm: isFree ? 'Sell it' : 'Make it free',
    done,
  });
  useStart(page, review.start);
  return { of: (next) => setPage({ ...next }), dialog: review.dialog, outcome: () => review.outcome() };
}

/** Takes a page out of the catalogue. */
export function usePageRemoval(done: () => void): RowChange {
  const [page, setPage] = useState<PricedPage | null>(null);
  const review = useReview({
    title: `Remove ${page?.title ?? page?.path ?? ''} from the catalogue`,
    look: pricesNow,
    show: () =>
      html`<${Effect} lines=${[
        html`<code>${page?.path}</code> is in no licence that is sold from now on.`,
        'Licences that were sold before keep it.',
        page?.credits
          ? 'Its authors stay named here, so that single reads of it are sold as before.'
          : 'Single reads of it cost what they cost before.',
      ]} />`,
    make: ({ version }) => mutate(REMOVE_PAGES_DOCUMENT, { slugs: [page?.importedSlug], ifVersion: version }),
    confirm: 'Remove it',
    danger: true,
    done,
  });
  useStart(page, review.start);
  return { of: (next) => setPage({ ...next }), dialog: review.dialog, outcome: () => review.outcome() };
}

function useStart(page: PricedPage | null, start: () => Promise<void>): void {
  useEffect(() => {
    if (page !== null) void start();
  }, [page]);
}
