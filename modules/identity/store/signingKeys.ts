import { sql as text } from 'kysely';
import type { Database } from '../../../db/database.ts';
import { json, run, tables } from '../../../db/statement.ts';

/** A signing key's public half and when it signs. */
export interface PublishedKey {
  readonly kid: string;
  readonly publicJwk: Readonly<Record<string, unknown>>;
  readonly activeFromMs: number;
  readonly isRetired: boolean;
}

/**
 * Publishes the public halves of keys not seen before and returns all that are known. The very first one may sign at once;
 * any later one `delayMs` after now, so that everyone who caches the set knows it by then. Two processes at once agree.
 */
export async function publishSigningKeys(
  database: Database,
  keys: readonly { readonly kid: string; readonly publicJwk: object }[],
  at: Date,
  delayMs: number,
): Promise<PublishedKey[]> {
  const later = new Date(at.getTime() + delayMs);
  await database.transaction(async (sql) => {
    await sql.query('lock table signing_key in share row exclusive mode');
    for (const { kid, publicJwk } of keys) {
      const isFirst = text<boolean>`not exists (select from signing_key)`;
      const activeFrom = text<Date>`case when ${isFirst} then ${at}::timestamptz else ${later}::timestamptz end`;
      const row = { kid, publicJwk: json(publicJwk as PublishedKey['publicJwk']), publishedAt: at, activeFrom };
      await run(
        sql,
        tables
          .insertInto('signing_key')
          .values(row)
          .onConflict((conflict) => conflict.column('kid').doNothing()),
      );
    }
  });
  return listSigningKeys(database);
}

/** Every signing key known, the latest to become active first. */
export async function listSigningKeys(database: Database): Promise<PublishedKey[]> {
  const keys = tables.selectFrom('signing_key').select(['kid', 'publicJwk', 'activeFrom', 'retiredAt']);
  const rows = await run(database, keys.orderBy('activeFrom', 'desc').orderBy('kid'));
  return rows.map(({ kid, publicJwk, activeFrom, retiredAt }) => {
    return { kid, publicJwk, activeFromMs: activeFrom.getTime(), isRetired: retiredAt !== null };
  });
}
