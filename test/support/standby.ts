/** A Postgres with a standby that follows it and that its commits wait for, made by the scripts of deploy/postgres as docs/backup.md says. */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chownSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { takeBaseBackup } from '../../sandbox/parts/postgres/archive.ts';
import { findCluster, recordCluster } from '../../sandbox/parts/postgres/cluster.ts';
import type { Postgres } from '../../sandbox/parts/postgres/postgres.ts';
import { startPostgres } from '../../sandbox/parts/postgres/postgres.ts';
import { postgresIdentity } from '../../sandbox/parts/postgres/unprivileged.ts';
import { scaled } from './patience.ts';
import { query } from './sql.ts';

const run = promisify(execFile);
const PSQL_OF_OURS = `${process.execPath} ${fileURLToPath(new URL('../../sandbox/parts/postgres/psql.ts', import.meta.url))}`;

/** Makes and starts a standby of a Postgres with an archive, and has the primary's commits wait for it. The caller stops it. */
export async function startStandby(
  primary: Postgres,
  folders: { readonly primary: string; readonly standby: string },
): Promise<Postgres> {
  const { archive, data } = primary.places;
  const { standby: folder } = folders;
  const record = findCluster(folders.primary);
  if (archive === null || record === null) throw new Error('a standby needs the archive and the record of its primary');
  const password = randomBytes(16).toString('hex');
  const { username, password: superPassword, hostname, port } = new URL(primary.superUrl);
  mkdirSync(folder, { recursive: true, mode: 0o755 });
  const passwordFile = join(dirname(data), 'replication_password'); // where the server's user can read it
  writeFileSync(passwordFile, `${password}\n`, { mode: 0o600 });
  const session = { PGUSER: username, PGPASSWORD: superPassword, PGHOST: hostname, PGPORT: port, PGDATABASE: 'postgres' };
  const env = { ...process.env, ...session, PGDATA: data, REPLICATION_PASSWORD_FILE: passwordFile, PSQL: PSQL_OF_OURS };
  const replication = (what: string) => run('sh', [join(archive.scripts, 'replication.sh'), what], { env, cwd: '/' });
  await replication('prepare');
  await replication('prepare'); // a second call changes nothing
  await takeBaseBackup(primary.places, primary.superUrl);

  const identity = postgresIdentity();
  const dataFolder = join(dirname(data), 'standby-data');
  mkdirSync(dataFolder, { mode: 0o700 });
  if (identity !== null) chownSync(dataFolder, identity.uid, identity.gid);
  if (identity !== null) chownSync(passwordFile, identity.uid, identity.gid);
  const place = { PGDATA: dataFolder, ARCHIVE: archive.folder, PRIMARY_HOST: '127.0.0.1', PRIMARY_PORT: String(primary.port) };
  const asServer = {
    ...(identity ?? {}),
    cwd: '/',
    env: { PATH: process.env['PATH'], ...place, REPLICATION_PASSWORD_FILE: passwordFile },
  };
  await run('sh', [join(archive.scripts, 'standby.sh'), 'true'], asServer);
  recordCluster(folder, { ...record, dataFolder });
  const standby = await startPostgres({ folder, archive: true });

  const follows = () => query(primary.superUrl, "select 1 from pg_stat_replication where state = 'streaming'");
  for (const until = performance.now() + scaled(60_000); (await follows()).length === 0; await sleep(100)) {
    if (performance.now() > until) throw new Error('the standby does not follow');
  }
  await replication('wait');
  const waits = () => query(primary.superUrl, "select 1 from pg_stat_replication where sync_state = 'sync'");
  for (const until = performance.now() + scaled(60_000); (await waits()).length === 0; await sleep(100)) {
    if (performance.now() > until) throw new Error('the primary does not wait for its standby');
  }
  return standby;
}
