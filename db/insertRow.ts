import type { Sql } from './database.ts';

/**
 * Inserts a row given by the names of its columns; columns that are not named have their defaults. Numbers beyond 2^53 are given as text. True when it was
 * written; false when `onConflict`, a clause, says to do nothing. `name` makes it a prepared statement: the same columns each time.
 */
export async function insertRow(
  sql: Sql,
  table: string,
  row: object,
  { onConflict = '', name }: { readonly onConflict?: string; readonly name?: string } = {},
): Promise<boolean> {
  const columns = Object.keys(row).join(', ');
  const statement = `insert into ${table} (${columns}) select ${columns} from jsonb_populate_record(null::${table}, $1) ${onConflict} returning 1`;
  return (await sql.query(statement, [JSON.stringify(row)], name)).length === 1;
}
