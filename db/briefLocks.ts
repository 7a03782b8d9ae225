import type { Database, Sql } from './database.ts';

/** Longest that others queue behind what waits for a lock here. */
const LOCK_TIMEOUT_MS = 200;

/**
 * Does work of the tables' owner in a database transaction that waits 200 ms for a lock at most, since live readers and writers would wait
 * behind it: gives what it gives, or `busy` when a lock was not free in time, and nothing was changed.
 */
export async function withinBriefLocks<T>(owner: Database, work: (sql: Sql) => Promise<T>): Promise<T | 'busy'> {
  try {
    return await owner.transaction(async (sql) => {
      await sql.query(`set local lock_timeout = ${LOCK_TIMEOUT_MS}`);
      return await work(sql);
    });
  } catch (error) {
    if ((error as { code?: unknown }).code === '55P03') return 'busy';
    throw error;
  }
}
