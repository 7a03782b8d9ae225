import { sql as text } from 'kysely';
import type { Sql } from '../../../db/database.ts';
import { run, tables } from '../../../db/statement.ts';
import { NO_EPOCH } from '../../identity/store/accessEpoch.ts';

/** What storage is asked about a presented token. */
export interface TokenQuestion {
  readonly tenantId: string;
  readonly jti: string;
  readonly licenceJti: string | null;
  /** Canonical path to look for where the token names its pages by a hash; null: its pages are in it. */
  readonly path: string | null;
}

/** Whether a token entitles, and the access epoch of its site in the same read. */
export interface TokenAtEpoch {
  readonly alive: boolean;
  readonly epoch: string;
}

/**
 * For each token: not alive when it, or the licence it was minted under, is on the site's deny-list, or when its stored scope does
 * not cover the path. Reads Postgres in the call, so that a revocation holds from the next one.
 */
export async function areTokensAlive(sql: Sql, questions: readonly TokenQuestion[]): Promise<readonly TokenAtEpoch[]> {
  const rows = await sql.query<{ alive: boolean; epoch: string | null }>(
    `select not exists (select from denied_licence as denied
         where denied.tenant_id = asked.tenant_id and denied.jti in (asked.jti, asked.licence_jti))
       and (asked.path is null or exists (
         select from access_scope as scope
           join licence_page as page on page.tenant_id = scope.tenant_id and page.jti = scope.licence_jti
             and page.path = asked.path
          where scope.tenant_id = asked.tenant_id and scope.jti = asked.jti and scope.licence_jti::text = asked.licence_jti
            and (scope.paths is null or page.path = any(scope.paths)))) as alive, access_epoch.epoch
     from unnest($1::uuid[], $2::text[], $3::text[], $4::text[]) with ordinality
       as asked (tenant_id, jti, licence_jti, path, place)
       left join access_epoch using (tenant_id)
     order by place`,
    [
      questions.map(({ tenantId }) => tenantId),
      questions.map(({ jti }) => jti),
      questions.map(({ licenceJti }) => licenceJti),
      questions.map(({ path }) => path),
    ],
    'tokens-alive',
  );
  return rows.map(({ alive, epoch }) => ({ alive, epoch: epoch ?? NO_EPOCH }));
}

/** A token that does not name the site that sold it. */
export interface UnnamedToken {
  readonly tenantId: string;
  readonly host: string;
  readonly licenceJti: string | null;
  readonly issuedAtSeconds: number;
}

/**
 * Whether a site sold a token that does not say who did: an access token when the site sold its licence, a re-read licence when
 * the site has the host since before it was made. Such tokens were made before tokens named their site, and end within the hour.
 */
export async function isSoldByTenant(sql: Sql, token: UnnamedToken): Promise<boolean> {
  const { tenantId, host, licenceJti, issuedAtSeconds } = token;
  const issuedAt = text<Date>`to_timestamp(${issuedAtSeconds}::bigint)`;
  const sold =
    licenceJti === null
      ? tables
          .selectFrom('tenant_host')
          .select('host')
          .where('tenantId', '=', tenantId)
          .where('host', '=', host)
          .where('verifiedAt', '<=', issuedAt)
      : tables.selectFrom('licence').select('host').where('tenantId', '=', tenantId).where('jti', '=', licenceJti);
  return (await run(sql, sold)).length > 0;
}
