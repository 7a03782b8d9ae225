import type { Sql } from '../../../db/database.ts';

/** An answer of a tenant's credits API as kept; `null` as credits: the API names nobody. */
export interface CreditsCopy {
  readonly credits: unknown;
  readonly fetchedAt: Date;
  /** The answer before, when it was another one; undefined when there was none. */
  readonly previous: { readonly credits: unknown; readonly until: Date } | null;
}

/** Which answer. */
export interface CreditsKey {
  readonly tenantId: string;
  readonly apiUrl: string;
  readonly slug: string;
}

/** The kept answer about a page; null when there is none. */
export async function findCreditsCopy(sql: Sql, { tenantId, apiUrl, slug }: CreditsKey): Promise<CreditsCopy | null> {
  const [row] = await sql.query<{ credits: unknown; fetched_at: Date; previous: unknown; previous_until: Date | null }>(
    'select credits, fetched_at, previous, previous_until from credits_copy where tenant_id = $1 and api_url = $2 and slug = $3',
    [tenantId, apiUrl, slug],
  );
  if (!row) return null;
  const previous = row.previous_until === null ? null : { credits: row.previous, until: row.previous_until };
  return { credits: row.credits, fetchedAt: row.fetched_at, previous };
}

/** Copies that a site may have, and bytes of one as JSON: what an API names beyond them each process remembers for itself. */
const MOST_COPIES = 20_000;
const MOST_BYTES = 32_768;

/** An answer of a credits API; null as credits: it names nobody. */
export interface GivenCredits {
  readonly key: CreditsKey;
  readonly credits: unknown;
  readonly at: Date;
  /** The answer before, of which no copy is kept, named nobody. */
  readonly wasNobody: boolean;
}

/**
 * Keeps an answer; one that differs from the last makes that the previous one, in force until now. Returns what is kept. Null, and nothing is kept, where
 * there is no copy yet and the answer names nobody (anybody may ask for any page), is longer than 32 KiB, or the site has 20,000 copies.
 */
export async function storeCreditsCopy(sql: Sql, { key, credits, at, wasNobody }: GivenCredits): Promise<CreditsCopy | null> {
  const json = credits === null ? null : JSON.stringify(credits);
  if (json !== null && Buffer.byteLength(json) > MOST_BYTES) return null;
  const [row] = await sql.query<{ previous: unknown; previous_until: Date | null }>(
    `insert into credits_copy as kept (tenant_id, api_url, slug, credits, fetched_at, previous_until)
     select $1, $2, $3, $4::jsonb, $5::timestamptz, case when $6 then $5::timestamptz end
      where exists (select from credits_copy where tenant_id = $1 and api_url = $2 and slug = $3)
         or ($4::jsonb is not null
             and (select count(*) from (select from credits_copy where tenant_id = $1 limit ${MOST_COPIES}) as own) < ${MOST_COPIES})
     on conflict (tenant_id, api_url, slug) do update set
       credits = excluded.credits,
       previous = case when kept.credits is distinct from excluded.credits then kept.credits else kept.previous end,
       previous_until = case when kept.credits is distinct from excluded.credits then excluded.fetched_at
         else kept.previous_until end,
       fetched_at = greatest(kept.fetched_at, excluded.fetched_at)
     returning previous, previous_until`,
    [key.tenantId, key.apiUrl, key.slug, json, at, wasNobody],
  );
  if (!row) return null;
  const previous = row.previous_until ? { credits: row.previous, until: row.previous_until } : null;
  return { credits, fetchedAt: at, previous };
}
