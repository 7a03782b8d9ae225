import { setTimeout as sleep } from 'node:timers/promises';
import type { PoolClient } from 'pg';
import type { Database } from './database.ts';
import { openDatabase } from './database.ts';
import { listMigrations } from './migrations.ts';

const LOCK = 0x5e771e;
/** Behind a lock that waits, all later ones wait, and with them live payments: so it gives way after this, and comes again. */
const LOCK_TIMEOUT_MS = 2_000;
const PAUSE_MS = 1_000;
const MOST_TRIES = 60;

/**
 * Brings the schema up to date under an advisory lock; `ownerUrl` belongs to the role that owns the tables (a direct
 * connection, safety 24). Nothing limits how long a statement takes, some add up what years have left, but none that later writes would
 * wait behind waits for a lock longer than two seconds at a time: after sixty tries it gives up with Postgres' error. What was finished
 * stays; a second call goes on from there, and one at the same time waits.
 */
export async function migrate(ownerUrl: string): Promise<void> {
  const open = (poolSize: number, session?: string): Promise<Database> =>
    openDatabase({ url: ownerUrl, poolSize, statementTimeoutMs: 0, ...(session === undefined ? {} : { session }) });
  const database = await open(2, `set lock_timeout = ${LOCK_TIMEOUT_MS}`);
  const patient = await open(1);
  const client = await database.pool.connect();
  try {
    // Asked again and again: a statement that waits holds a snapshot, which an index built concurrently would wait for in turn.
    while (!(await hasLock(client))) await sleep(PAUSE_MS);
    const outside = new Set(listMigrations().flatMap(({ name, isOutside }) => (isOutside ? [name] : [])));
    for (const { name } of await database.orm.migrator.getPending()) {
      // An index built concurrently waits for whoever is older, for hours if need be, and no write waits behind it.
      if (outside.has(name)) await patient.orm.migrator.up({ migrations: [name] });
      else await migrateInTurns(database, name);
    }
  } finally {
    await client.query('select pg_advisory_unlock($1)', [LOCK]).catch(() => undefined);
    client.release();
    await Promise.all([database.close(), patient.close()]);
  }
}

async function hasLock(client: PoolClient): Promise<boolean> {
  const { rows } = await client.query<{ held: boolean }>('select pg_try_advisory_lock($1) as held', [LOCK]);
  return rows[0]?.held === true;
}

async function migrateInTurns(database: Database, name: string): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      await database.orm.migrator.up({ migrations: [name] });
      return;
    } catch (error) {
      if (!isLockTimeout(error) || tries === MOST_TRIES) throw error;
      await sleep(PAUSE_MS);
    }
  }
}

/** lock_not_available, which the migrator wraps. */
function isLockTimeout(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if ((cause as { code?: unknown }).code === '55P03' || /lock timeout/.test(cause.message)) return true;
  }
  return false;
}
