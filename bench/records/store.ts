import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Database } from '../../db/database.ts';
import { openDatabase } from '../../db/database.ts';
import { migrate } from '../../db/migrate.ts';
import { listMigrations } from '../../db/migrations.ts';
import { openReportDatabase } from '../../modules/reports/store/pools.ts';
import { removeCluster } from '../../sandbox/parts/postgres/cluster.ts';
import type { DatabaseUrls } from '../../sandbox/parts/postgres/postgres.ts';
import { startPostgres } from '../../sandbox/parts/postgres/postgres.ts';
import type { BenchOptions } from '../harness/bench.ts';
import type { Parts } from '../harness/cpu.ts';
import { CLIENT } from '../harness/cpu.ts';
import { atEndOfRun, benchFolder } from '../harness/parts.ts';
import { loadRecords } from './load.ts';

/** Nothing is safe and nothing is swept while rows are loaded; a Postgres that is measured has its defaults and 512 MB of buffers. */
const LOADING = [
  'fsync=off',
  'full_page_writes=off',
  'synchronous_commit=off',
  'wal_level=minimal',
  'max_wal_senders=0',
  'autovacuum=off',
  'max_wal_size=16GB',
  'checkpoint_timeout=1h',
  'shared_buffers=2GB',
  'maintenance_work_mem=1GB',
  'work_mem=256MB',
];
const MEASURING = ['shared_buffers=512MB'];

/** A database full of records, on a Postgres of its own. */
export interface RecordStore {
  readonly urls: DatabaseUrls;
  readonly database: Database;
  /** As API processes read reports. */
  readonly reading: Database;
  readonly nowMs: number;
  /** Its Postgres, and this process as the client. */
  readonly parts: Parts;
}

const stores = new Map<number, Promise<RecordStore>>();

/**
 * A store of `rows` crossings and as many observations, on a Postgres with the settings reports are measured with. Loaded when first
 * asked for, unless an earlier run kept it; benches of one run share it, and it goes with the run unless it is to be kept.
 */
export function sharedRecordStore(rows: number, options: BenchOptions): Promise<RecordStore> {
  const store = stores.get(rows) ?? openRecordStore(rows, options);
  stores.set(rows, store);
  return store;
}

async function openRecordStore(rows: number, { keptRecords, log }: BenchOptions): Promise<RecordStore> {
  const folder = join(keptRecords ?? benchFolder(), `records-${rows}`);
  const kept = keptRecords === null ? null : readKept(folder);
  const nowMs = kept ?? (await load(folder, rows, (line) => log(`${rows.toLocaleString('en-US')} rows, ${line}`)));
  const postgres = await startPostgres({ folder, settings: MEASURING });
  const database = await openDatabase({ url: postgres.appUrl, poolSize: 4, statementTimeoutMs: 600_000 });
  const reading = await openReportDatabase({ url: postgres.appUrl, poolSize: 4 });
  atEndOfRun(async () => {
    await Promise.all([database.close(), reading.close()]);
    await postgres.stop();
    if (keptRecords === null) removeCluster(folder);
    else keep(folder, nowMs);
  });
  return { urls: postgres, database, reading, nowMs, parts: { postgres: [postgres.process.pid], ...CLIENT } };
}

/** Loads a new store and returns the moment its rows end at. */
async function load(folder: string, rows: number, log: (line: string) => void): Promise<number> {
  removeCluster(folder);
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
  return nowMs;
}

/** Beside a kept store: when its rows end, and the schema they are stored in: its migrations, each with the digest of its file. */
const noteOf = (folder: string): string => `${folder}.json`;
const schema = (): string =>
  listMigrations()
    .map(({ name, digest }) => `${name} ${digest}`)
    .join('\n');

function keep(folder: string, nowMs: number): void {
  writeFileSync(noteOf(folder), JSON.stringify({ nowMs, schema: schema() }));
}

/** When the rows of a kept store end; null when there is none, or one of another schema. */
function readKept(folder: string): number | null {
  if (!existsSync(noteOf(folder))) return null;
  const note = JSON.parse(readFileSync(noteOf(folder), 'utf8')) as { readonly nowMs: number; readonly schema: string };
  return note.schema === schema() ? note.nowMs : null;
}
