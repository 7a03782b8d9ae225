import type { Sql } from '../../../db/database.ts';

/** How many secrets of an endpoint sign now. */
export async function countValidSecrets(sql: Sql, tenantId: string, endpointId: string): Promise<number> {
  const [row] = await sql.query<{ count: number }>(
    `select count(*)::integer as count from webhook_secret
     where tenant_id = $1 and endpoint_id = $2 and (expires_at is null or expires_at > now())`,
    [tenantId, endpointId],
  );
  return row?.count ?? 0;
}

/**
 * Adds a sealed secret and lets the ones before it sign for `overlapMs` more, none longer than it already may; secrets that ended
 * are forgotten. Run it with the endpoint locked.
 */
export async function replaceSecret(
  sql: Sql,
  secret: {
    readonly tenantId: string;
    readonly endpointId: string;
    readonly secretId: string;
    readonly sealed: Buffer;
    readonly keyId: string;
  },
  overlapMs: number,
): Promise<void> {
  const { tenantId, endpointId, secretId, sealed, keyId } = secret;
  await sql.query('delete from webhook_secret where tenant_id = $1 and endpoint_id = $2 and expires_at <= now()', [
    tenantId,
    endpointId,
  ]);
  await sql.query(
    `update webhook_secret set expires_at = least(coalesce(expires_at, 'infinity'), now() + $3 * interval '1 millisecond')
     where tenant_id = $1 and endpoint_id = $2`,
    [tenantId, endpointId, overlapMs],
  );
  await sql.query(
    `insert into webhook_secret (tenant_id, endpoint_id, secret_id, sealed, key_id, created_at)
     values ($1, $2, $3, $4, $5, clock_timestamp())`,
    [tenantId, endpointId, secretId, sealed, keyId],
  );
}

/** When the secrets of an endpoint were made and when they end, the oldest first; never the secrets. */
export async function listSecretTimes(
  sql: Sql,
  tenantId: string,
  endpointId: string,
): Promise<{ readonly createdAt: Date; readonly expiresAt: Date | null }[]> {
  return await sql.query(
    `select created_at as "createdAt", expires_at as "expiresAt" from webhook_secret
     where tenant_id = $1 and endpoint_id = $2 order by created_at, secret_id`,
    [tenantId, endpointId],
  );
}
