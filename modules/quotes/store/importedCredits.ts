import { sql as text } from 'kysely';
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

/** Both rows of a path by their keys, whichever is there. */
const creditsAt = statement<{ tenantId: string; path: string }>()((place) =>
  tables
    .selectFrom(text<{ readonly one: number }>`(select 1 as one)`.as('one'))
    .leftJoin('imported_page as page', (on) => on.on('page.tenantId', '=', place('tenantId')).on('page.path', '=', place('path')))
    .leftJoin('former_credits as former', (on) =>
      on.on('former.tenantId', '=', place('tenantId')).on('former.path', '=', place('path')),
    )
    .select(['page.credits', 'page.title', 'former.credits as formerCredits', 'former.endedAt']),
);

/** The credits that a site imported for a path (canonical), and those of before: one statement. */
export async function findImportedCredits(sql: Sql, tenantId: string, path: string): Promise<ImportedCredits> {
  const [row] = await creditsAt(sql, { tenantId, path });
  const { credits = null, title = null, formerCredits = null, endedAt = null } = row ?? {};
  return { credits, title, former: endedAt && { credits: formerCredits, endedAt } };
}
