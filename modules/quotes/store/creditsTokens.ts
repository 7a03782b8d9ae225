import type { Sql } from '../../../db/database.ts';

/** The sealed bearer token of a site's credits API, and the origin it is for. */
export interface CreditsToken {
  readonly origin: string;
  readonly sealed: Buffer;
  readonly setAt: Date;
}

/** The token of a site's credits API; null when there is none. */
export async function findCreditsToken(sql: Sql, tenantId: string): Promise<CreditsToken | null> {
  const [row] = await sql.query<CreditsToken & Record<string, unknown>>(
    'select origin, sealed, set_at as "setAt" from credits_token where tenant_id = $1',
    [tenantId],
  );
  return row ?? null;
}

/** Stores a site's token in place of the one before. */
export async function writeCreditsToken(
  sql: Sql,
  tenantId: string,
  token: CreditsToken & { readonly keyId: string },
): Promise<void> {
  await sql.query(
    `insert into credits_token (tenant_id, origin, sealed, key_id, set_at) values ($1, $2, $3, $4, $5)
     on conflict (tenant_id) do update set origin = excluded.origin, sealed = excluded.sealed, key_id = excluded.key_id,
       set_at = excluded.set_at`,
    [tenantId, token.origin, token.sealed, token.keyId, token.setAt],
  );
}

/** Forgets a site's token; a second call does nothing. */
export async function deleteCreditsToken(sql: Sql, tenantId: string): Promise<void> {
  await sql.query('delete from credits_token where tenant_id = $1', [tenantId]);
}

/** Tokens that are not known to be under this key, by site, after `after`; an operator's work, over all sites. */
export async function listCreditsTokensNotUnder(
  sql: Sql,
  keyId: string,
  { after, limit }: { readonly after: string | null; readonly limit: number },
): Promise<(CreditsToken & { readonly tenantId: string })[]> {
  return await sql.query<CreditsToken & { readonly tenantId: string } & Record<string, unknown>>(
    `select tenant_id as "tenantId", origin, sealed, set_at as "setAt" from credits_token
     where key_id is distinct from $1 and ($2::uuid is null or tenant_id > $2) order by tenant_id limit $3`,
    [keyId, after, limit],
  );
}

/** Puts other sealed bytes in the place of a token's; false, and nothing changed, when these no longer stand. */
export async function resealCreditsToken(
  sql: Sql,
  from: { readonly tenantId: string; readonly sealed: Buffer },
  to: { readonly sealed: Buffer; readonly keyId: string },
): Promise<boolean> {
  const rows = await sql.query(
    'update credits_token set sealed = $3, key_id = $4 where tenant_id = $1 and sealed = $2 returning 1',
    [from.tenantId, from.sealed, to.sealed, to.keyId],
  );
  return rows.length > 0;
}
