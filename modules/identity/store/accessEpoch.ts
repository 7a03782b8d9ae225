import type { Sql } from '../../../db/database.ts';
import { anyOf, statement, tables } from '../../../db/statement.ts';

const epochsOf = statement<{ tenantIds: readonly string[] }>()(
  (place) =>
    tables
      .selectFrom('access_epoch')
      .select(['tenantId', 'epoch'])
      .where('tenantId', '=', anyOf(place('tenantIds'))),
  'access-epochs',
);

/**
 * The access epochs of sites, in the order asked: whatever takes a right of a key or a licence away moves the epoch of its site in its own
 * transaction, by triggers of Postgres. What was read with one epoch is as it was while the epoch is the same.
 */
export async function listAccessEpochs(sql: Sql, tenantIds: readonly string[]): Promise<readonly string[]> {
  const found = new Map((await epochsOf(sql, { tenantIds })).map(({ tenantId, epoch }) => [tenantId, epoch]));
  return tenantIds.map((tenantId) => found.get(tenantId) ?? NO_EPOCH);
}

/** Of a site whose rights never changed. */
export const NO_EPOCH = '';
