/** A Postgres with a standby that follows it and that its commits wait for, made by the scripts of deploy/postgres as docs/backup.md says. */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chownSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { takeBaseBackup } from '../../sandbox/parts/postgres/archive.ts';
import { findCluster, recordCluster } from '../../sandbox/parts/postgres/cluster.ts';
import type { Postgres } from '../../sandbox/parts/postgres/postgres.ts';
import { startPostgres } from '../../sandbox/parts/postgres/postgres.ts';
import { postgresIdentity } from '../../sandbox/parts/postgres/unprivileged.ts';
import { scaled } from './patience.ts';
import { query } from './sql.ts';

const run = promisify(execFile);

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
  await query(primary.superUrl, `create role replicator replication login password '${password}'`);
  await query(primary.superUrl, "select pg_create_physical_replication_slot('standby')");
  await takeBaseBackup(primary.places, primary.superUrl);

  const identity = postgresIdentity();
  const dataFolder = join(dirname(data), 'standby-data');
  mkdirSync(dataFolder, { mode: 0o700 });
  if (identity !== null) chownSync(dataFolder, identity.uid, identity.gid);
  const reaches = `host=127.0.0.1 port=${primary.port} user=replicator password=${password}`;
  const args = [join(archive.scripts, 'restore.sh'), archive.folder, dataFolder, 'standby', reaches];
  await run('sh', args, { ...(identity ?? {}), cwd: '/' });
  mkdirSync(folder, { recursive: true, mode: 0o755 });
  recordCluster(folder, { ...record, dataFolder });
  const standby = await startPostgres({ folder, archive: true });

  await query(primary.superUrl, "alter system set synchronous_standby_names = 'standby'");
  await query(primary.superUrl, 'select pg_reload_conf()');
  const waits = () => query(primary.superUrl, "select 1 from pg_stat_replication where sync_state = 'sync'");
  for (const until = performance.now() + scaled(60_000); (await waits()).length === 0; await sleep(100)) {
    if (performance.now() > until) throw new Error('the primary does not wait for its standby');
  }
  return standby;
}
