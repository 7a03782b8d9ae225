import type { Sql } from '../../../db/database.ts';

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

/** Of so many pages that have the words, the best are chosen; whoever looks for words of every title gets the best of these. */
const CANDIDATES = 500;

/**
 * Pages that have all the words, those first whose title has them; none for words that hold none. What bounds the cost: candidates are taken part
 * by part of the table until there are enough, so that common words end in the first part and rare ones have few.
 */
export async function searchPages(sql: Sql, { words, tenantIds, limit }: PageSearch): Promise<SearchedPage[]> {
  return sql.query<SearchedPage & Record<string, unknown>>(
    `select found.tenant_id as "tenantId", tenant.version, found.slug, found.path, found.title, listing.relays,
       tenant.sells_training as "sellsTraining"
     from (
       select tenant_id, source, slug, path, title, ts_rank(words, plainto_tsquery('simple', $1)) as rank from (
         select * from searched_page where words @@ plainto_tsquery('simple', $1)${tenantIds ? ' and tenant_id = any($3::uuid[])' : ''}
          limit ${CANDIDATES}
       ) as candidate order by rank desc, tenant_id, slug, source limit $2
     ) as found
       join tenant using (tenant_id) join discovery_listing as listing using (tenant_id)
     order by found.rank desc, found.tenant_id, found.slug, found.source`,
    [words, limit, ...(tenantIds ? [tenantIds] : [])],
  );
}
