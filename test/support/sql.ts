/** One statement on a connection of its own. */
import pg from 'pg';

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
