import { sql as text } from 'kysely';
import type { Sql } from '../../../db/database.ts';
import type { RowOf } from '../../../db/shown.ts';
import { both, columnsOf, workedOut } from '../../../db/shown.ts';
import { run, tables } from '../../../db/statement.ts';

/** What a site says of itself in the public list. */
export interface Listing {
  readonly summary: string;
  readonly tags: readonly string[];
}

/** A site's entry: what it says, and whether it lets the text of its pages be handed on to who has a licence for them. */
export interface OwnListing extends Listing {
  readonly relays: boolean;
}

/** A place in the public list: an article prefix of a host of a site that is in it. */
export interface ListedPlace extends Listing {
  readonly tenantId: string;
  /** Of the tenant at this moment. */
  readonly version: number;
  readonly host: string;
  readonly prefix: string;
  readonly at: PlaceKey;
}

/** Where a place stands in the order of the list. */
export interface PlaceKey {
  readonly position: number;
  readonly host: string;
  readonly place: number;
}

/** Which places, from where on, and how many at most. */
export interface ListedRequest {
  /** Words to look for; null: all. */
  readonly query: string | null;
  readonly after: PlaceKey | null;
  readonly offset: number;
  readonly limit: number;
}

/** A site's entry; null: it is not in the list. */
export async function findListing(sql: Sql, tenantId: string): Promise<OwnListing | null> {
  const listing = tables.selectFrom('discovery_listing').select(['summary', 'tags', 'relays']);
  const [row] = await run(sql, listing.where('tenantId', '=', tenantId));
  return row ?? null;
}

/** Puts a site into the list, or changes what it says there; its place in the order stays, and so does whether it relays where that is null. */
export async function writeListing(
  sql: Sql,
  tenantId: string,
  { summary, tags, relays }: Listing & { readonly relays: boolean | null },
): Promise<void> {
  const words = text<string>`to_tsvector('simple', ${[summary, ...tags].join(' ')})`;
  const said = { summary, tags: [...tags], words };
  await run(
    sql,
    tables
      .insertInto('discovery_listing')
      .values({ tenantId, position: text<string>`default`, ...said, relays: relays ?? false })
      .onConflict((conflict) => conflict.column('tenantId').doUpdateSet(relays === null ? said : { ...said, relays })),
  );
}

/** Takes a site out of the list; a second call does nothing. */
export async function deleteListing(sql: Sql, tenantId: string): Promise<void> {
  await run(sql, tables.deleteFrom('discovery_listing').where('tenantId', '=', tenantId));
}

/** Of all sites, since the list is everybody's: those that are sold now, on hosts that are proven. */
const PLACES = `from discovery_listing as listing
  join tenant using (tenant_id)
  join tenant_host as owned using (tenant_id)
  cross join lateral unnest(coalesce(tenant.article_prefixes, '{/}')) with ordinality as part (prefix, place)
  where tenant.status = 'active' and owned.verified_at is not null
    and ($1::text is null or listing.tenant_id in (
      select tenant_id from discovery_listing where words @@ websearch_to_tsquery('simple', $1)
      union all select tenant_id from host_claim where host = lower($1)))`;

const PLACE = both(
  both(columnsOf('tenant tenant', ['tenantId', 'version']), columnsOf('tenant_host owned', ['host'])),
  both(
    columnsOf('discovery_listing listing', ['position', 'summary', 'tags']),
    workedOut<{ readonly prefix: string; readonly place: string }>('part.prefix, part.place'),
  ),
);

/** Some places of the list, in its order. */
export async function readListing(sql: Sql, { query, after, offset, limit }: ListedRequest): Promise<ListedPlace[]> {
  const rows = await sql.query<RowOf<typeof PLACE>>(
    `select ${PLACE.text} ${PLACES}
       and ($2::bigint is null or (listing.position, owned.host collate "C", part.place) > ($2, $3 collate "C", $4))
     order by listing.position, owned.host collate "C", part.place offset $5 limit $6`,
    [query, after?.position ?? null, after?.host ?? '', after?.place ?? 0, offset, limit],
  );
  return rows.map(({ place, position, ...row }) => ({
    ...row,
    at: { position: Number(position), host: row.host, place: Number(place) },
  }));
}

/** How many places the list has. */
export async function countListing(sql: Sql): Promise<number> {
  const [row] = await sql.query<{ count: string }>(`select count(*) ${PLACES}`, [null]);
  return Number(row?.count ?? 0);
}
