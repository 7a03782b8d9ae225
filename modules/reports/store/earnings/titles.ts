import type { Sql } from '../../../../db/database.ts';

/** A page as a row names it: by its slug, and by the payment that bought it where there is one. */
export interface NamedBy {
  readonly slug: string;
  readonly paymentId: string | null;
}

/** What is known of a page. Texts are anybody's. */
export interface PageFacts {
  /** Its title, as the site's settings, its catalogue or its credits API last gave it, in this order; null: none of them has one. */
  readonly title: string | null;
  /** Its path in the catalogue, percent-encoded; null: it is not in it. */
  readonly path: string | null;
  /** The URL that the payment bought; null without one, and for a licence. */
  readonly resource: string | null;
}

/** What is known of pages of a site, in their order, and where its articles are (null: everywhere). One statement. */
export async function listPageFacts(
  sql: Sql,
  tenantId: string,
  pages: readonly NamedBy[],
): Promise<{ readonly facts: readonly PageFacts[]; readonly articlePrefixes: readonly string[] | null }> {
  if (pages.length === 0) return { facts: [], articlePrefixes: null };
  const rows = await sql.query<PageFacts & { readonly prefixes: string[] | null }>(
    `select coalesce(nullif(inline.title, ''), nullif(i.title, ''), nullif(k.credits ->> 'title', '')) as title, i.path,
       case when p.purpose = 'page' then p.resource end as resource, case when asked.place = 1 then t.article_prefixes end as prefixes
     from unnest($2::text[], $3::uuid[]) with ordinality as asked (slug, payment_id, place)
     join tenant t on t.tenant_id = $1
     left join (
       select one.key, one.value ->> 'title' as title
       from tenant s, jsonb_each(case jsonb_typeof(s.credits_inline) when 'object' then s.credits_inline else '{}' end) as one
       where s.tenant_id = $1 and one.key = any($2::text[])
     ) inline on inline.key = asked.slug
     left join imported_page i on i.tenant_id = $1 and i.slug = asked.slug
     left join credits_copy k on k.tenant_id = $1 and k.api_url = t.credits_api_url and k.slug = asked.slug
     left join ledger.payment p on p.tenant_id = $1 and p.payment_id = asked.payment_id
     order by asked.place`,
    [tenantId, pages.map(({ slug }) => slug), pages.map(({ paymentId }) => paymentId)],
  );
  return {
    facts: rows.map(({ title, path, resource }) => ({ title, path, resource })),
    articlePrefixes: rows[0]?.prefixes ?? null,
  };
}
