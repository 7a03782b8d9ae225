import { openDatabase } from './database.ts';

const LOCK = 0x5e771e;

/**
 * Brings the schema up to date under an advisory lock; `ownerUrl` belongs to the role that owns the tables (a direct
 * connection, safety 24). Nothing limits how long it takes: some migrations add up what years have left. A second call, at once or
 * later, changes nothing.
 */
export async function migrate(ownerUrl: string): Promise<void> {
  const database = await openDatabase({ url: ownerUrl, poolSize: 2, statementTimeoutMs: 0 });
  const client = await database.pool.connect();
  try {
    await client.query('select pg_advisory_lock($1)', [LOCK]);
    await database.orm.migrator.up();
  } finally {
    await client.query('select pg_advisory_unlock($1)', [LOCK]).catch(() => undefined);
    client.release();
    await database.close();
  }
}
