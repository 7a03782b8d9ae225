import type { Sql } from '../../../db/database.ts';
import { acrossSites, anyOf, run } from '../../../db/statement.ts';
import type { Plan } from '../../kernel/access/key.ts';

/** The plan of each of some sites; what is no site is left out. */
export async function listPlans(sql: Sql, tenantIds: readonly string[]): Promise<Map<string, Plan | null>> {
  const plans = acrossSites('an owner of sites')
    .selectFrom('tenant')
    .select(['tenantId', 'plan'])
    .where('tenantId', '=', anyOf(tenantIds));
  return new Map((await run(sql, plans)).map(({ tenantId, plan }) => [tenantId, plan as Plan | null]));
}
