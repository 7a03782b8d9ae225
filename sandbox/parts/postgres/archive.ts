/** WAL archive, base backup and restore of an embedded Postgres, by the very scripts that docker-compose.yml uses. */
import { execFile } from 'node:child_process';
import { chownSync, copyFileSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Identity } from './unprivileged.ts';
import { postgresIdentity } from './unprivileged.ts';

/** Folders of a Postgres. */
export interface PostgresPlaces {
  readonly data: string;
  /** Null without an archive. */
  readonly archive: { readonly folder: string; readonly scripts: string } | null;
}

type Archived = PostgresPlaces & { readonly archive: NonNullable<PostgresPlaces['archive']> };

const SCRIPTS = fileURLToPath(new URL('../../../deploy/postgres', import.meta.url));
const CLIENT = fileURLToPath(new URL('psql.ts', import.meta.url));
const run = promisify(execFile);

/** Makes the archive beside the data, with the scripts where the server's user can read them. A second call changes nothing. */
export function placeArchive(data: string, identity: Identity | null): Archived {
  const folder = join(dirname(data), 'archive');
  const scripts = join(folder, 'scripts');
  mkdirSync(scripts, { recursive: true, mode: 0o755 });
  for (const name of readdirSync(SCRIPTS)) copyFileSync(join(SCRIPTS, name), join(scripts, name));
  if (identity !== null) chownSync(folder, identity.uid, identity.gid);
  return { data, archive: { folder, scripts } };
}

/** What docker-compose.yml sets of the archive (a test compares them). */
export function archiveSettings({ archive }: PostgresPlaces): readonly string[] {
  if (archive === null) return [];
  return [
    'wal_level=replica',
    'archive_mode=on',
    'archive_timeout=60',
    `archive_command=sh ${archive.scripts}/archive.sh %p %f ${archive.folder}`,
  ];
}

/**
 * Takes a base backup of a running server, by a session of its superuser; returns its name. Uses `psql` where `client` says so, else a
 * client of ours that does as much of it as the script needs. Throws with the script's own words.
 */
export async function takeBaseBackup(
  places: PostgresPlaces,
  superUrl: string,
  client: 'psql' | 'ours' = 'ours',
): Promise<string> {
  const { archive } = archived(places);
  const { username, password, hostname, port } = new URL(superUrl);
  const session = { PGUSER: username, PGPASSWORD: password, PGHOST: hostname, PGPORT: port, PGDATABASE: 'postgres' };
  const program = client === 'psql' ? 'psql' : `${process.execPath} ${CLIENT}`;
  const env = { ...session, PGDATA: places.data, PSQL: program };
  const { stdout } = await run('sh', [join(archive.scripts, 'base-backup.sh'), archive.folder], { env });
  const backup = stdout.trim();
  const identity = postgresIdentity();
  if (identity !== null) await run('chown', ['-R', `${identity.uid}:${identity.gid}`, join(archive.folder, 'base')]);
  return backup;
}

/**
 * Puts a data folder of the archive in the place of the one that is there, which is kept beside it as `data.lost`: `latest`, or the
 * point of time, LSN or name to restore to. The server must not run.
 */
export async function restoreInPlace(
  places: PostgresPlaces,
  target: readonly ['latest'] | readonly ['time' | 'lsn' | 'name', string],
): Promise<void> {
  const { data, archive } = archived(places);
  const identity = postgresIdentity();
  rmSync(`${data}.lost`, { recursive: true, force: true });
  renameSync(data, `${data}.lost`);
  mkdirSync(data, { mode: 0o700 });
  if (identity !== null) chownSync(data, identity.uid, identity.gid);
  await run('sh', [join(archive.scripts, 'restore.sh'), archive.folder, data, ...target], { ...(identity ?? {}), cwd: '/' });
}

function archived(places: PostgresPlaces): Archived {
  const { archive } = places;
  if (archive === null) throw new Error('this Postgres has no archive');
  return { ...places, archive };
}
