import type { Sql } from '../../../db/database.ts';
import { run, tables } from '../../../db/statement.ts';

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
  const [row] = await run(
    sql,
    tables
      .selectFrom('licence')
      .select(['host', 'accountId', 'revokedAt'])
      .where('tenantId', '=', tenantId)
      .where('jti', '=', jti),
  );
  return row ?? null;
}

/** True when a licence or token stands on the site's deny-list. */
export async function isDenied(sql: Sql, { tenantId, jti }: LicenceKey): Promise<boolean> {
  const denied = tables.selectFrom('denied_licence').select('jti').where('tenantId', '=', tenantId).where('jti', '=', jti);
  return (await run(sql, denied)).length > 0;
}
