import type { Sql } from '../database.ts';

/** What storage is asked about a presented token. */
export interface TokenQuestion {
  readonly tenantId: string;
  readonly jti: string;
  readonly licenceJti: string | null;
  /** Canonical path to look for where the token names its pages by a hash; null: its pages are in it. */
  readonly path: string | null;
  readonly host: string;
  /** When a token was made that does not name the site that sold it; null: it names the one that asks. */
  readonly unnamedSinceSeconds: number | null;
}

/**
 * For each token: false when it, or the licence it was minted under, is on the site's deny-list, when its stored scope does not
 * cover the path, or when it names no site and this one did not sell it: the site sold no such licence, or, for a re-read licence,
 * has the host only since later. Reads Postgres in the call, so that a revocation holds from the next one.
 */
export async function areTokensAlive(sql: Sql, questions: readonly TokenQuestion[]): Promise<boolean[]> {
  const rows = await sql.query<{ alive: boolean }>(
    `select not exists (select from denied_licence as denied
         where denied.tenant_id = asked.tenant_id and denied.jti in (asked.jti, asked.licence_jti))
       and (asked.path is null or exists (
         select from access_scope as scope
           join licence_page as page on page.tenant_id = scope.tenant_id and page.jti = scope.licence_jti
             and page.path = asked.path
          where scope.tenant_id = asked.tenant_id and scope.jti = asked.jti and scope.licence_jti::text = asked.licence_jti
            and (scope.paths is null or page.path = any(scope.paths))))
       and (asked.unnamed_since is null
         or exists (select from licence where licence.tenant_id = asked.tenant_id and licence.jti = asked.licence_jti::uuid)
         or asked.licence_jti is null and exists (select from tenant_host as own where own.tenant_id = asked.tenant_id
           and own.host = asked.host and own.verified_at <= to_timestamp(asked.unnamed_since))) as alive
     from unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[], $6::bigint[]) with ordinality
       as asked (tenant_id, jti, licence_jti, path, host, unnamed_since, place)
     order by place`,
    [
      questions.map(({ tenantId }) => tenantId),
      questions.map(({ jti }) => jti),
      questions.map(({ licenceJti }) => licenceJti),
      questions.map(({ path }) => path),
      questions.map(({ host }) => host),
      questions.map(({ unnamedSinceSeconds }) => unnamedSinceSeconds),
    ],
    'tokens-alive',
  );
  return rows.map(({ alive }) => alive);
}

/** Uses a holder proof: true the first time of (token, nonce), false ever after. */
export async function useProof(
  sql: Sql,
  proof: { readonly tenantId: string; readonly jti: string; readonly nonce: string; readonly expiresAt: Date },
): Promise<boolean> {
  const rows = await sql.query(
    `insert into used_proof (tenant_id, jti, nonce, expires_at) values ($1, $2, $3, $4) on conflict do nothing returning 1`,
    [proof.tenantId, proof.jti, proof.nonce, proof.expiresAt],
  );
  return rows.length > 0;
}
