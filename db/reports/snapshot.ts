import type { PoolClient } from 'pg';
import pg from 'pg';
import type { Database, Sql } from '../database.ts';

/** One database transaction, REPEATABLE READ and read only, that stays open while its rows are on their way to a client. */
export interface ReadSnapshot extends Sql {
  /** Ends the transaction and gives the connection back. A second call does nothing. */
  close(): Promise<void>;
}

/** Opens a snapshot: every statement sees the same rows. Whoever opens one closes it, on every path. */
export async function openReadSnapshot(database: Database): Promise<ReadSnapshot> {
  const client = await database.pool.connect();
  client.on('error', ignore);
  let isOpen = true;
  const close = async (): Promise<void> => {
    if (!isOpen) return;
    isOpen = false;
    await release(client);
  };
  try {
    await client.query('begin isolation level repeatable read read only');
  } catch (error) {
    await close();
    throw error;
  }
  return {
    query: async (statement, values = []) => (await client.query({ text: statement, values: [...values], types: pg.types })).rows,
    close,
  };
}

/** A connection lost while it waits is noticed by the next statement. */
function ignore(): void {
  return;
}

async function release(client: PoolClient): Promise<void> {
  try {
    await client.query('rollback');
    client.off('error', ignore);
    client.release();
  } catch (error) {
    client.release(error instanceof Error ? error : true);
  }
}
