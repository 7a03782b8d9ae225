import type { Sql } from '../../../db/database.ts';
import type { ServedBody } from '../store/bodies.ts';
import { noteBodies as insertBodies } from '../store/bodies.ts';

/**
 * Notes what a site says that it served for payments of its own, each once; how many are noted. It is the site's word, and the record
 * says so. A second call changes nothing. Throws database_unavailable.
 */
export function noteBodies(deps: { readonly database: Sql }, tenantId: string, bodies: readonly ServedBody[]): Promise<number> {
  return insertBodies(deps.database, tenantId, bodies);
}
