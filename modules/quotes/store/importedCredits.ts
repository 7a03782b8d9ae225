import type { Sql } from '../../../db/database.ts';
import { statement, tables } from '../../../db/statement.ts';

/** What the pages that a site imported say of who is paid for a path. */
export interface ImportedCredits {
  /** As imported; null: the page is not there, or names nobody. */
  readonly credits: unknown;
  readonly title: string | null;
  /** What it was before its last change; null: no change is kept. */
  readonly former: { readonly credits: unknown; readonly endedAt: Date } | null;
}

const pageAt = statement<{ tenantId: string; path: string }>()((place) =>
  tables
    .selectFrom('imported_page')
    .select(['credits', 'title'])
    .where('tenantId', '=', place('tenantId'))
    .where('path', '=', place('path')),
);
const formerAt = statement<{ tenantId: string; path: string }>()((place) =>
  tables
    .selectFrom('former_credits')
    .select(['credits', 'endedAt'])
    .where('tenantId', '=', place('tenantId'))
    .where('path', '=', place('path')),
);

/** The credits that a site imported for a path (canonical), and those of before. */
export async function findImportedCredits(sql: Sql, tenantId: string, path: string): Promise<ImportedCredits> {
  const [[page], [former]] = await Promise.all([pageAt(sql, { tenantId, path }), formerAt(sql, { tenantId, path })]);
  return { credits: page?.credits ?? null, title: page?.title ?? null, former: former ?? null };
}
