/**
 * A primary that nobody reaches while its standby is promoted (docs/backup.md), and that comes back: open connections to it are cut, new ones are
 * refused, and nothing is written to it any more.
 */
import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, test, vi } from 'vitest';
import type { Database } from '../../db/database.ts';
import { openDatabase } from '../../db/database.ts';
import { listen } from '../../db/listen.ts';
import { primaryOf } from '../../db/primary.ts';
import { removeCluster } from '../../sandbox/parts/postgres/cluster.ts';
import type { Postgres } from '../../sandbox/parts/postgres/postgres.ts';
import { startPostgres } from '../../sandbox/parts/postgres/postgres.ts';
import { startProxy } from '../support/proxy.ts';
import { query } from '../support/sql.ts';
import { startStandby } from '../support/standby.ts';

const folder = join(inject('parts').folder, randomUUID().slice(0, 8)); // a run that could not stop its parts leaves the next one alone
const folders = { primary: join(folder, 'former-primary'), standby: join(folder, 'former-standby') };
let primary: Postgres;
let standby: Postgres;

beforeAll(async () => {
  primary = await startPostgres({ folder: folders.primary, archive: true });
  standby = await startStandby(primary, folders);
  // So that the former one would take what is written to it.
  await query(primary.superUrl, "alter system set synchronous_standby_names = ''");
  await query(primary.superUrl, 'select pg_reload_conf()');
  await query(primary.ownerUrl, 'create table noted (word text not null)');
});
afterAll(async () => {
  for (const one of [primary, standby]) if (one?.process.isRunning()) signalAll(one, 'SIGCONT'); // a held one would not stop
  await Promise.all([primary?.stop(), standby?.stop()]);
  removeCluster(folders.standby);
  removeCluster(folders.primary);
});

/** A URL of two servers; what this process knows of them is kept by URL. */
const urlOf = (first: number, second: number, name: string): string =>
  `${primary.ownerUrl.replace(`:${primary.port}/`, `:${first},127.0.0.1:${second}/`)}?target_session_attrs=read-write&application_name=${name}`;
/** Every process of a Postgres: a stopped postmaster alone leaves its sessions running. */
function signalAll({ process: { pid } }: Postgres, signal: 'SIGSTOP' | 'SIGCONT'): void {
  const all = execFileSync('ps', ['-A', '-o', 'pid=,ppid=']).toString().trim().split('\n');
  const sessions = all.map((line) => line.trim().split(/\s+/).map(Number)).filter(([, parent]) => parent === pid);
  for (const one of [pid, ...sessions.map(([child]) => child as number)]) process.kill(one, signal);
}
const note = (database: Database, word: string) => database.query('insert into noted (word) values ($1)', [word]);
const notedAt = async (url: string) => (await query(url, 'select word from noted order by word')).map(({ word }) => word);

test('a primary that hangs while its standby is promoted is not written to when it goes on, nor when it is started again', async () => {
  const heard: string[] = [];
  const frozen = await openDatabase({ url: urlOf(primary.port, standby.port, 'frozen'), poolSize: 4 });
  const listener = listen(urlOf(primary.port, standby.port, 'frozen'), 'noted', (word) => heard.push(word ?? 'listens'));
  vi.useFakeTimers({ toFake: ['setInterval'] }); // this one looks only when it loses a connection
  const restarted = await openDatabase({ url: urlOf(primary.port, standby.port, 'restarted'), poolSize: 4 });
  vi.useRealTimers();
  try {
    await Promise.all([note(frozen, 'a1'), note(frozen, 'a2'), note(restarted, 'a3')]);
    await expect.poll(() => heard).toEqual(['listens']);
    const gate = Promise.withResolvers<void>();
    const began = Promise.withResolvers<void>();
    const open = frozen.transaction(async (sql) => {
      await sql.query("insert into noted (word) values ('open')");
      began.resolve();
      await gate.promise;
    });
    open.catch(() => undefined);
    await began.promise;
    await expect.poll(() => notedAt(standby.superUrl)).toEqual(['a1', 'a2', 'a3']);

    signalAll(primary, 'SIGSTOP');
    expect(await query(standby.superUrl, 'select pg_promote(wait => true) as done')).toEqual([{ done: true }]);
    await expect.poll(() => primaryOf(urlOf(primary.port, standby.port, 'frozen'))?.timeline).toBe(2);
    signalAll(primary, 'SIGCONT');
    gate.resolve();
    await expect(open).rejects.toMatchObject({
      cause: { message: expect.stringMatching(/Connection terminated|not queryable/) },
    });
    const words = Array.from({ length: 9 }, (_, one) => `b${one}`);
    // One whose connection is cut in its hands is told so, and is sent again.
    await Promise.all(words.map((word) => note(frozen, word).catch(() => note(frozen, word))));
    expect(await notedAt(primary.superUrl)).toEqual(['a1', 'a2', 'a3']);
    expect(await notedAt(standby.superUrl)).toEqual(['a1', 'a2', 'a3', ...words]);
    await expect.poll(() => heard).toEqual(['listens', 'listens']);
    await query(standby.superUrl, "select pg_notify('noted', 'b')");
    await expect.poll(() => heard).toEqual(['listens', 'listens', 'b']);

    await primary.stop();
    primary = await startPostgres({ folder: folders.primary, archive: false, port: primary.port });
    await note(restarted, 'c');
    expect(await notedAt(primary.superUrl)).toEqual(['a1', 'a2', 'a3']);
    expect(await notedAt(standby.superUrl)).toEqual(['a1', 'a2', 'a3', ...words, 'c']);
  } finally {
    signalAll(primary, 'SIGCONT');
    await Promise.all([frozen.close(), restarted.close(), listener.close()]);
  }
});

test('an address that goes back to a former primary gets no new connection', async () => {
  let target = standby.port;
  const moving = await startProxy(() => target);
  const database = await openDatabase({ url: urlOf(moving.port, moving.port, 'moving'), poolSize: 2 });
  try {
    await database.transaction(async () => {
      target = primary.port;
      await expect(note(database, 'd')).rejects.toMatchObject({ code: 'database_unavailable', cause: { code: '25006' } });
    });
    expect(await notedAt(primary.superUrl)).not.toContain('d');
  } finally {
    await database.close();
    await moving.close();
  }
});
