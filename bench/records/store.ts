import { join } from 'node:path';
import type { Database } from '../../db/database.ts';
import { openDatabase } from '../../db/database.ts';
import { migrate } from '../../db/migrate.ts';
import type { DatabaseUrls } from '../../sandbox/parts/postgres.ts';
import { startPostgres } from '../../sandbox/parts/postgres.ts';
import { removeCluster } from '../../sandbox/parts/postgres-cluster.ts';
import { benchFolder } from '../harness/parts.ts';
import { loadRecords } from './load.ts';

/** Nothing is safe and nothing is swept while rows are loaded; a Postgres that is measured has its defaults and 512 MB of buffers. */
const LOADING = [
  ...['fsync=off', 'full_page_writes=off', 'synchronous_commit=off', 'wal_level=minimal', 'max_wal_senders=0', 'autovacuum=off'],
  ...['max_wal_size=16GB', 'checkpoint_timeout=1h', 'shared_buffers=2GB', 'maintenance_work_mem=1GB', 'work_mem=256MB'],
];
const MEASURING = ['shared_buffers=512MB'];

/** A database full of records, on a Postgres of its own. */
export interface RecordStore {
  readonly urls: DatabaseUrls;
  readonly database: Database;
  readonly nowMs: number;
  /** Ends the Postgres and removes its files. */
  stop(): Promise<void>;
}

/** Loads `rows` crossings and as many observations, then starts the Postgres anew with the settings reports are measured with. */
export async function openRecordStore(rows: number, log: (line: string) => void): Promise<RecordStore> {
  const folder = join(benchFolder(), `records-${rows}`);
  const nowMs = Date.now();
  const loading = await startPostgres({ folder, settings: LOADING });
  try {
    await migrate(loading.ownerUrl);
    await loadRecords({ rows, nowMs, superUrl: loading.superUrl, log });
  } catch (error) {
    await loading.stop();
    removeCluster(folder);
    throw error;
  }
  await loading.stop();
  const postgres = await startPostgres({ folder, settings: MEASURING });
  const database = await openDatabase({ url: postgres.appUrl, poolSize: 4, statementTimeoutMs: 600_000 });
  const stop = async (): Promise<void> => {
    await database.close();
    await postgres.stop();
    removeCluster(folder);
  };
  return { urls: postgres, database, nowMs, stop };
}
