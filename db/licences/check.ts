import type { Sql } from '../database.ts';

/** What storage is asked about a presented token, in one statement. */
export interface TokenQuestion {
  readonly tenantId: string;
  readonly jti: string;
  readonly licenceJti: string | null;
  /** Canonical path to look for where the token names its pages by a hash; null: its pages are in it. */
  readonly path: string | null;
}

/**
 * False when the token, or the licence it was minted under, is on the site's deny-list, or when its stored scope does not cover
 * the path. Reads Postgres in the call, so that a revocation holds from the next one.
 */
export async function isTokenAlive(sql: Sql, question: TokenQuestion): Promise<boolean> {
  const { tenantId, jti, licenceJti, path } = question;
  const rows = await sql.query<{ alive: boolean }>(
    `select not exists (select from denied_licence where tenant_id = $1 and jti = any($2::text[]))
       and ($3::text is null or exists (
         select from access_scope as scope
           join licence_page as page on page.tenant_id = scope.tenant_id and page.jti = scope.licence_jti and page.path = $3
          where scope.tenant_id = $1 and scope.jti = $4 and scope.licence_jti::text = $5
            and (scope.paths is null or page.path = any(scope.paths)))) as alive`,
    [tenantId, licenceJti === null ? [jti] : [jti, licenceJti], path, jti, licenceJti],
  );
  return rows[0]?.alive === true;
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
