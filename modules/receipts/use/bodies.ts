import type { Sql } from '../../../db/database.ts';
import type { ServedBody } from '../store/bodies.ts';
import { noteBodies as insertBodies } from '../store/bodies.ts';

/**
 * Notes what a site says that it answered to payments of its own; how many words changed something. It is the site's word, and the record says so. A
 * second call with the same words changes nothing. Throws database_unavailable.
 */
export function noteBodies(deps: { readonly database: Sql }, tenantId: string, bodies: readonly ServedBody[]): Promise<number> {
  return insertBodies(deps.database, tenantId, bodies);
}
