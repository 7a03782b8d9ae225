import { sql as text } from 'kysely';
import type { Database, Sql } from '../../../db/database.ts';
import { json, run, tables } from '../../../db/statement.ts';

/** A signing key's public half, when it signs, and since when it is retired (null: it is not). */
export interface PublishedKey {
  readonly kid: string;
  readonly publicJwk: Readonly<Record<string, unknown>>;
  readonly activeFromMs: number;
  readonly retiredAtMs: number | null;
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
    await lockSigningKeys(sql);
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
export async function listSigningKeys(sql: Sql): Promise<PublishedKey[]> {
  const keys = tables.selectFrom('signing_key').select(['kid', 'publicJwk', 'activeFrom', 'retiredAt']);
  const rows = await run(sql, keys.orderBy('activeFrom', 'desc').orderBy('kid'));
  return rows.map(({ kid, publicJwk, activeFrom, retiredAt }) => {
    return { kid, publicJwk, activeFromMs: activeFrom.getTime(), retiredAtMs: retiredAt?.getTime() ?? null };
  });
}

/** Every signing key known, which nobody publishes or retires until this database transaction ends. */
export async function lockSigningKeys(sql: Sql): Promise<PublishedKey[]> {
  await sql.query('lock table signing_key in share row exclusive mode');
  return listSigningKeys(sql);
}

/** Retires a key for good; one that is retired stays so since it was. */
export async function retireSigningKey(sql: Sql, kid: string, at: Date): Promise<void> {
  await run(sql, tables.updateTable('signing_key').set({ retiredAt: at }).where('kid', '=', kid).where('retiredAt', 'is', null));
}

/** Lets a published key sign from `at` on. */
export async function activateSigningKey(sql: Sql, kid: string, at: Date): Promise<void> {
  await run(sql, tables.updateTable('signing_key').set({ activeFrom: at }).where('kid', '=', kid));
}
