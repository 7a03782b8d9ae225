import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { isAlive } from '../lock.mjs';
import type { choosePort } from '../ports.ts';
import { onFreePort, releasePort } from '../ports.ts';
import type { PartProcess } from '../processes.ts';
import { startProcess, untilReady } from '../processes.ts';
import type { PostgresPlaces } from './archive.ts';
import { archiveSettings, placeArchive } from './archive.ts';
import { findPostgresBinaries } from './binaries.ts';
import type { ClusterRecord } from './cluster.ts';
import { createCluster, findCluster, recordCluster } from './cluster.ts';
import { createDatabase, createRoles } from './roles.ts';
import { postgresIdentity } from './unprivileged.ts';

/** Where to keep the cluster and how to run it. */
export interface PostgresOptions {
  /** Everything of this Postgres: record, log and (if the postgres user can reach it) data. */
  readonly folder: string;
  /** The port to try first; the next free one is taken. 0: any. */
  readonly port?: number;
  /** The service's database, made at the first boot; `svc` unless told. */
  readonly database?: string;
  /** More settings, `name=value`. */
  readonly settings?: readonly string[];
  /** True archives its WAL by the scripts of deploy/postgres, as docker-compose.yml does. */
  readonly archive?: boolean;
  /** How a port is chosen; by trying what is free unless told. */
  readonly choosePort?: typeof choosePort;
}

/** The ways to connect to one database. All hold a password: never log them. */
export interface DatabaseUrls {
  /** `svc_owner`: owns the database and its schema, runs migrations. */
  readonly ownerUrl: string;
  /** `svc_app`: may connect; all other rights come from migrations. */
  readonly appUrl: string;
  /** The superuser. */
  readonly superUrl: string;
}

/** A running Postgres. */
export interface Postgres extends DatabaseUrls {
  readonly port: number;
  readonly process: PartProcess;
  /** False when it started on data of an earlier run. */
  readonly isNew: boolean;
  /** Where its data is, and its archive if it has one; both belong to the user it runs as. */
  readonly places: PostgresPlaces;
  /** The same roles on another database of this cluster. */
  urlsOf(database: string): DatabaseUrls;
  /** Fast shutdown: open connections are cut, everything committed is on disk. A second call waits for the first. */
  stop(): Promise<void>;
}

const SETTINGS = [
  'listen_addresses=127.0.0.1',
  'unix_socket_directories=',
  'max_connections=200',
  'max_locks_per_transaction=1024',
  'fsync=on',
  'max_wal_size=512MB',
  'timezone=UTC',
  'log_timezone=UTC',
  'log_min_messages=warning',
];

/**
 * Starts the embedded Postgres 18 on `folder`, kept data or a new cluster, on 127.0.0.1 only. A second start on a folder whose
 * Postgres still runs waits up to 15 s for it to end (that of a killed run does), then throws; so does one that
 * does not become ready in 60 s, with its own last words.
 */
export async function startPostgres(options: PostgresOptions): Promise<Postgres> {
  const identity = postgresIdentity();
  const binaries = findPostgresBinaries(identity);
  const kept = findCluster(options.folder);
  const record = kept ?? (await createCluster(options.folder, binaries, identity));
  await clearStalePid(record.dataFolder);
  const places =
    options.archive === true ? placeArchive(record.dataFolder, identity) : { data: record.dataFolder, archive: null };
  const start = (port: number): Promise<Postgres> => startOn(port, options, { record, isNew: kept === null, places });
  return onFreePort(options.port ?? 0, start, options.choosePort);
}

interface FoundCluster {
  readonly record: ClusterRecord;
  readonly isNew: boolean;
  readonly places: PostgresPlaces;
}

/** Another's Postgres at this port would not know our passwords, so that it is never taken for ours. */
async function startOn(port: number, options: PostgresOptions, { record, isNew, places }: FoundCluster): Promise<Postgres> {
  const identity = postgresIdentity();
  const binaries = findPostgresBinaries(identity);
  const settings = [...SETTINGS, `port=${port}`, ...archiveSettings(places), ...(options.settings ?? [])];
  const process = await startProcess({
    name: 'Postgres',
    command: binaries.postgres,
    args: ['-D', record.dataFolder, ...settings.flatMap((setting) => ['-c', setting])],
    logFile: join(options.folder, 'postgres.log'),
    cwd: '/',
    env: { LC_ALL: 'C', TZ: 'UTC' },
    ...(identity === null ? {} : { identity }),
    stopSignal: 'SIGINT',
    graceMs: 10_000,
  });
  void process.exited.then(() => releasePort(port));
  const urlsOf = (database: string): DatabaseUrls => urls(record, port, database);
  const database = options.database ?? 'svc';
  try {
    await untilReady(process, () => query(urlsOf('postgres').superUrl, 'SELECT 1'), 180_000);
    if (isNew) {
      await createRoles(urlsOf('postgres').superUrl, record);
      await createDatabase(urlsOf('postgres').superUrl, database);
      recordCluster(options.folder, { ...record, complete: true });
    }
  } catch (error) {
    await process.stop();
    throw error;
  }
  return { ...urlsOf(database), port, process, isNew, places, urlsOf, stop: () => process.stop() };
}

function urls(record: ClusterRecord, port: number, database: string): DatabaseUrls {
  const url = (user: string, password: string): string => `postgres://${user}:${password}@127.0.0.1:${port}/${database}`;
  return {
    ownerUrl: url('svc_owner', record.ownerPassword),
    appUrl: url('svc_app', record.appPassword),
    superUrl: url('postgres', record.superPassword),
  };
}

async function query(url: string, text: string): Promise<void> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2_000 });
  client.on('error', () => {});
  try {
    await client.connect();
    await client.query(text);
  } finally {
    await client.end().catch(() => {});
  }
}

/**
 * Postgres refuses to start while its pid file names a living process, even if the number is somebody else's by now. A living
 * Postgres of this folder is waited for; any other pid file is stale and removed.
 */
async function clearStalePid(dataFolder: string): Promise<void> {
  const file = join(dataFolder, 'postmaster.pid');
  const deadline = performance.now() + 15_000;
  while (existsSync(file)) {
    const pid = Number.parseInt(readFileSync(file, 'utf8'), 10);
    if (!Number.isInteger(pid) || !isAlive(pid) || !commandOf(pid).includes(dataFolder)) {
      rmSync(file, { force: true });
      return;
    }
    if (performance.now() > deadline)
      throw new Error(`a Postgres with process number ${pid} still runs on ${dataFolder}: stop it first`);
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

function commandOf(pid: number): string {
  try {
    return execFileSync('ps', ['-o', 'args=', '-p', String(pid)], { stdio: ['ignore', 'pipe', 'ignore'] }).toString();
  } catch {
    // No such process, or no `ps`: the pid file's folder decides, and Postgres itself checks its shared memory.
    return '';
  }
}
