import type { Sql } from '../../../db/database.ts';

/** A licence or token of a site. */
interface LicenceKey {
  readonly tenantId: string;
  readonly jti: string;
}

/** Whose a sold licence is, for which host, and when it was revoked; null when the site sold none of that id. */
export async function findRevocation(
  sql: Sql,
  { tenantId, jti }: LicenceKey,
): Promise<{ readonly host: string; readonly accountId: string; readonly revokedAt: Date | null } | null> {
  const [row] = await sql.query<{ host: string; accountId: string; revokedAt: Date | null }>(
    `select host, account_id as "accountId", revoked_at as "revokedAt" from licence where tenant_id = $1 and jti = $2`,
    [tenantId, jti],
  );
  return row ?? null;
}

/** True when a licence or token stands on the site's deny-list. */
export async function isDenied(sql: Sql, { tenantId, jti }: LicenceKey): Promise<boolean> {
  const rows = await sql.query('select 1 from denied_licence where tenant_id = $1 and jti = $2', [tenantId, jti]);
  return rows.length > 0;
}
