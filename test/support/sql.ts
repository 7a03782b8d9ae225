/** One statement on a connection of its own. */
import pg from 'pg';
import type { Sql } from '../../db/database.ts';

/** Runs a statement and closes the connection; throws what Postgres says. */
export async function query(url: string, statement: string, values: readonly unknown[] = []): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(statement, [...values])).rows as Record<string, unknown>[];
  } finally {
    await client.end();
  }
}

/**
 * Before many rows are written. A session plans the look of a foreign key once: in a new database on an empty table, where an index that finds the
 * tenant alone seems as good as the key's, so that ten thousand rows of one site took half a minute. It plans them anew at the end of the next
 * statement, when the rows are there.
 */
export async function planForeignKeysAnew(sql: Sql): Promise<void> {
  await sql.query('discard plans');
}

/** Does some work while nobody may read some tables; `url` is their owner's, who alone may lock what the service cannot change. */
export async function whileLocked<T>(url: string, tables: string, work: () => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(`begin; lock table ${tables} in access exclusive mode`);
    return await work();
  } finally {
    await client.end(); // and the transaction with it
  }
}
