/** The scripts of deploy/postgres on a Postgres of their own: what a DBA runs, and what the drill (test/fault/drill.test.ts) trusts. */
import { execFile, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { restoreInPlace, takeBaseBackup } from '../../sandbox/parts/postgres/archive.ts';
import { removeCluster } from '../../sandbox/parts/postgres/cluster.ts';
import type { Postgres } from '../../sandbox/parts/postgres/postgres.ts';
import { startPostgres } from '../../sandbox/parts/postgres/postgres.ts';
import { query } from '../support/sql.ts';

const SCRIPTS = fileURLToPath(new URL('../../deploy/postgres', import.meta.url));
const run = promisify(execFile);
/** Without it the session of a base backup is held by our own client alone. */
const hasPsql = spawnSync('sh', ['-c', 'command -v psql']).status === 0;

describe('an archive', () => {
  const folder = mkdtempSync(join(tmpdir(), 'archive-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const script = (name: string, ...args: string[]) => run('sh', [join(SCRIPTS, name), ...args]);

  test('takes a segment once, the same again without a word, and never another one of its name', async () => {
    const [one, other, back] = [join(folder, 'one'), join(folder, 'other'), join(folder, 'back')];
    writeFileSync(one, Buffer.alloc(100_000, 1));
    writeFileSync(other, Buffer.alloc(100_000, 2));
    await script('archive.sh', one, '000000010000000000000001', folder);
    await script('archive.sh', one, '000000010000000000000001', folder);
    await expect(script('archive.sh', other, '000000010000000000000001', folder)).rejects.toThrow(/holds other bytes/);
    await script('fetch.sh', folder, '000000010000000000000001', back);
    expect(readFileSync(back).equals(readFileSync(one))).toBe(true);
    expect(readdirSync(join(folder, 'wal'))).toEqual(['000000010000000000000001.gz']);
  });

  test('ends the reading where a segment is missing (1), and stops the server where one cannot be read (above 125)', async () => {
    const back = join(folder, 'back');
    await expect(script('fetch.sh', folder, '000000010000000000000002', back)).rejects.toMatchObject({ code: 1 });
    mkdirSync(join(folder, 'wal'), { recursive: true });
    writeFileSync(join(folder, 'wal', '000000010000000000000003.gz'), 'half of a segm');
    await expect(script('fetch.sh', folder, '000000010000000000000003', back)).rejects.toMatchObject({ code: 126 });
  });

  test('is pruned to what a restore to any moment of the last days needs', async () => {
    const nowMs = Date.now();
    const days = (count: number): string =>
      `${new Date(nowMs - count * 86_400_000).toISOString().replace(/[-:]/g, '').slice(0, 15)}Z`;
    const bases = [days(9), days(8), days(6), days(1)];
    for (const [at, name] of bases.entries()) {
      mkdirSync(join(folder, 'base', name), { recursive: true });
      const label = `START WAL LOCATION: 0/${at + 1}0 (file 00000001000000000000001${at})\n`;
      writeFileSync(join(folder, 'base', name, 'backup_label'), label);
    }
    mkdirSync(join(folder, 'base', '.part.1'));
    utimesSync(join(folder, 'base', '.part.1'), 1, 1);
    const wal = join(folder, 'wal');
    mkdirSync(wal, { recursive: true });
    for (const name of readdirSync(wal)) rmSync(join(wal, name));
    const names = ['00000001000000000000000F', '000000010000000000000010', '000000020000000000000011', '00000002.history'];
    for (const name of [...names, '00000001000000000000000F.00000028.backup']) writeFileSync(join(wal, `${name}.gz`), '');
    await script('prune.sh', folder, '7');
    expect(readdirSync(join(folder, 'base')).sort()).toEqual(bases.slice(1));
    expect(readdirSync(wal).sort()).toEqual(['00000002.history.gz', '000000020000000000000011.gz']);
    await expect(script('prune.sh', folder, '7; rm')).rejects.toThrow(/whole number/);
    await expect(script('restore.sh', folder, join(folder, 'base'), 'latest')).rejects.toThrow(/is not empty/);
    await expect(script('restore.sh', folder, join(folder, 'new'), 'time', '2001-01-01')).rejects.toThrow(/no base backup/);
  });
});

describe('a Postgres with an archive', () => {
  const folder = join(inject('parts').folder, 'backup-postgres');
  let postgres: Postgres;
  const ask = async (statement: string) => (await query(postgres.superUrl, statement)) as { n: string }[];
  beforeAll(async () => {
    postgres = await startPostgres({ folder, archive: true });
  });
  afterAll(async () => {
    await postgres.stop();
    removeCluster(folder);
  });

  test.for([
    ['ours', true],
    ['psql', hasPsql],
  ] as const)('comes back to a named moment with all its databases, by the client %s', async ([client, isHere], { skip }) => {
    if (!isHere) skip('there is no psql on this machine');
    const other = postgres.urlsOf('postgres').superUrl;
    await ask('drop table if exists kept');
    await query(other, 'drop table if exists kept');
    await ask('create table kept as select generate_series(1, 100) as n');
    const base = await takeBaseBackup(postgres.places, postgres.superUrl, client);
    await ask('insert into kept values (101)');
    await query(other, 'create table kept as select 1 as n');
    await ask(`select pg_create_restore_point('moment-${client}')`);
    await ask('insert into kept values (102)');
    await query(other, 'insert into kept values (2)');
    await ask('select pg_switch_wal()');
    const archived = () => ask('select (last_archived_wal is not null and failed_count = 0)::text as n from pg_stat_archiver');
    expect(base).toMatch(/\/base\/\d{8}T\d{6}Z$/);
    await postgres.stop();
    await restoreInPlace(postgres.places, ['name', `moment-${client}`]);
    postgres = await startPostgres({ folder, archive: true, port: postgres.port });
    await expect.poll(() => ask('select pg_is_in_recovery()::text as n')).toEqual([{ n: 'false' }]);
    expect(await ask('select max(n)::text as n from kept')).toEqual([{ n: '101' }]);
    expect(await query(other, 'select max(n)::text as n from kept')).toEqual([{ n: '1' }]);
    await ask('insert into kept values (103)');
    await ask('select pg_switch_wal()');
    await expect.poll(archived).toEqual([{ n: 'true' }]);
  });
});
