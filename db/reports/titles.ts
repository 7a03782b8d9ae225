import type { Sql } from '../database.ts';

/**
 * Titles of a site's pages by slug, as its settings, its catalogue or its credits API last gave them, in this order; pages without one
 * are left out. A title is anybody's text.
 */
export async function listTitles(sql: Sql, tenantId: string, slugs: readonly string[]): Promise<Map<string, string>> {
  if (slugs.length === 0) return new Map();
  const rows = await sql.query<{ slug: string; title: string }>(
    `select distinct on (slug) slug, title from (
       select 1 as place, one.key as slug, one.value ->> 'title' as title
         from tenant t, jsonb_each(case jsonb_typeof(t.credits_inline) when 'object' then t.credits_inline else '{}' end) as one
         where t.tenant_id = $1 and one.key = any($2::text[])
       union all
       select 2, slug, title from imported_page where tenant_id = $1 and slug = any($2::text[])
       union all
       select 3, k.slug, k.credits ->> 'title' from credits_copy k join tenant t on t.tenant_id = k.tenant_id and t.credits_api_url = k.api_url
         where k.tenant_id = $1 and k.slug = any($2::text[])
     ) as known where title <> '' order by slug, place`,
    [tenantId, slugs],
  );
  return new Map(rows.map(({ slug, title }) => [slug, title]));
}
