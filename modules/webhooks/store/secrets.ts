import { sql as text } from 'kysely';
import type { Sql } from '../../../db/database.ts';
import { run, tables } from '../../../db/statement.ts';

const secretsOf = (tenantId: string, endpointId: string) =>
  tables.selectFrom('webhook_secret').where('tenantId', '=', tenantId).where('endpointId', '=', endpointId);

/** How many secrets of an endpoint sign now. */
export async function countValidSecrets(sql: Sql, tenantId: string, endpointId: string): Promise<number> {
  const valid = secretsOf(tenantId, endpointId).where((is) =>
    is.or([is('expiresAt', 'is', null), is('expiresAt', '>', text<Date>`now()`)]),
  );
  return (await run(sql, valid.select('secretId'))).length;
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
  const { tenantId, endpointId } = secret;
  const ended = tables.deleteFrom('webhook_secret').where('tenantId', '=', tenantId).where('endpointId', '=', endpointId);
  await run(sql, ended.where('expiresAt', '<=', text<Date>`now()`));
  const end = text<Date>`least(coalesce(expires_at, 'infinity'), now() + ${overlapMs} * interval '1 millisecond')`;
  await run(
    sql,
    tables
      .updateTable('webhook_secret')
      .set({ expiresAt: end })
      .where('tenantId', '=', tenantId)
      .where('endpointId', '=', endpointId),
  );
  await run(sql, tables.insertInto('webhook_secret').values({ ...secret, createdAt: text<Date>`clock_timestamp()` }));
}

/** When the secrets of an endpoint were made and when they end, the oldest first; never the secrets. */
export async function listSecretTimes(
  sql: Sql,
  tenantId: string,
  endpointId: string,
): Promise<{ readonly createdAt: Date; readonly expiresAt: Date | null }[]> {
  const times = secretsOf(tenantId, endpointId).select(['createdAt', 'expiresAt']);
  return run(sql, times.orderBy('createdAt').orderBy('secretId'));
}
