import { sql as text } from 'kysely';
import type { Sql } from '../../../db/database.ts';
import { acrossSites, anyOf, run } from '../../../db/statement.ts';

/** A page that a search found, by what its site keeps of it. */
export interface SearchedPage {
  readonly tenantId: string;
  /** Of the tenant at this moment. */
  readonly version: number;
  readonly slug: string;
  /** Canonical; null: the site's first article prefix and the slug. */
  readonly path: string | null;
  readonly title: string | null;
  /** Whether its site sells training. */
  readonly sellsTraining: boolean;
  /** Whether its site lets the text be handed on. */
  readonly relays: boolean;
}

/** What is looked for. */
export interface PageSearch {
  /** Words; all must stand in title, slug or authors. No operators. */
  readonly words: string;
  /** Only pages of these sites; null: of all. */
  readonly tenantIds: readonly string[] | null;
  readonly limit: number;
}

/** Of so many pages that have the words, the best are chosen; a search for words of every title gets the best of these. */
const CANDIDATES = 500;

/**
 * Pages that have all the words, those first whose title has them; none for words that hold none. What bounds the cost: candidates are taken part
 * by part of the table until there are enough, so that common words end in the first part and rare ones have few.
 */
export async function searchPages(sql: Sql, { words, tenantIds, limit }: PageSearch): Promise<SearchedPage[]> {
  const asked = text`plainto_tsquery('simple', ${words})`;
  const found = acrossSites('the public')
    .selectFrom((best) =>
      best
        .selectFrom((candidate) =>
          candidate
            .selectFrom('searched_page')
            .selectAll()
            .where(text<boolean>`words @@ ${asked}`)
            .$if(tenantIds !== null, (pages) => pages.where('tenantId', '=', anyOf(tenantIds ?? [])))
            .limit(CANDIDATES)
            .as('candidate'),
        )
        .select(['tenantId', 'source', 'slug', 'path', 'title', text<number>`ts_rank(words, ${asked})`.as('rank')])
        .orderBy('rank', 'desc')
        .orderBy('tenantId')
        .orderBy('slug')
        .orderBy('source')
        .limit(limit)
        .as('found'),
    )
    .innerJoin('tenant', 'tenant.tenantId', 'found.tenantId')
    .innerJoin('discovery_listing as listing', 'listing.tenantId', 'found.tenantId')
    .select(['found.tenantId', 'tenant.version', 'found.slug', 'found.path', 'found.title'])
    .select(['listing.relays', 'tenant.sellsTraining'])
    .orderBy('found.rank', 'desc')
    .orderBy('found.tenantId')
    .orderBy('found.slug')
    .orderBy('found.source');
  return run(sql, found);
}
