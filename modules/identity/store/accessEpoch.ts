import type { Sql } from '../../../db/database.ts';

/**
 * The access epochs of sites, in the order asked: whatever takes a right of a key or a licence away moves the epoch of its site in its own
 * transaction, by triggers of Postgres. What was read with one epoch is as it was while the epoch is the same.
 */
export async function listAccessEpochs(sql: Sql, tenantIds: readonly string[]): Promise<readonly string[]> {
  const rows = await sql.query<{ tenant_id: string; epoch: string }>(
    'select tenant_id, epoch from access_epoch where tenant_id = any($1::uuid[])',
    [tenantIds],
    'access-epochs',
  );
  const found = new Map(rows.map((row) => [row.tenant_id, row.epoch]));
  return tenantIds.map((tenantId) => found.get(tenantId) ?? NO_EPOCH);
}

/** Of a site whose rights never changed. */
export const NO_EPOCH = '';
