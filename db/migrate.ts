import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { Migration } from './migrations.ts';
import { FIRST, listMigrations } from './migrations.ts';
import { explained } from './outage.ts';
import { urlOfPrimary } from './primary.ts';

const LOCK = 0x5e771e;
/** Behind a lock that waits, all later ones wait, and with them live payments: so it gives way after this, and comes again. */
const LOCK_TIMEOUT_MS = 2_000;
const PAUSE_MS = 1_000;
const MOST_TRIES = 60;
/** What has run, in the order in which it ran. */
const TABLE = `create table if not exists schema_migration
  (id serial primary key, name varchar(255) not null, digest text not null, executed_at timestamptz not null default now())`;
/** The table of before 0.1.0 has no digests. */
const DONE = "select name, to_jsonb(done) ->> 'digest' as digest from schema_migration as done order by name";

interface Done {
  readonly name: string;
  readonly digest: string | null;
}

/** A database whose schema was made by files that are gone or were changed. Its message is a sentence for the operator who runs the command. */
export class SchemaTooOld extends Error {
  constructor(how: string) {
    super(`This database was made before 0.1.0, ${how}: nothing was changed, start with an empty database.`);
  }
}

/**
 * Brings the schema up to date under an advisory lock; `ownerUrl` belongs to the role that owns the tables (a direct
 * connection, safety 24). Nothing limits how long a statement takes, some add up what years have left, but none that later writes would
 * wait behind waits for a lock longer than two seconds at a time: after sixty tries it gives up with Postgres' error. What was finished
 * stays; a second call goes on from there, and one at the same time waits. Throws `SchemaTooOld`, and changes nothing, where the migrations
 * that ran are others than these.
 */
export async function migrate(ownerUrl: string, migrations: readonly Migration[] = listMigrations()): Promise<void> {
  // One connection, which holds the lock until it is closed: without it nothing more is run.
  let opened = 0;
  const pool = new pg.Pool({
    connectionString: await urlOfPrimary(ownerUrl),
    max: 1,
    idleTimeoutMillis: 0,
    connectionTimeoutMillis: 5_000,
    statement_timeout: 0,
    application_name: 'migrate',
    verify: (_client, done) => done(opened++ === 0 ? undefined : new Error('the connection that held the lock was lost')),
  });
  pool.on('error', () => undefined); // the statement that runs then rejects
  try {
    // Asked again and again: a statement that waits holds a snapshot, which an index built concurrently would wait for in turn.
    while (!(await hasLock(pool))) await sleep(PAUSE_MS);
    await pool.query(TABLE);
    const { rows } = await pool.query<Done>(DONE);
    requireSame(rows, migrations);
    const done = new Set(rows.map(({ name }) => name));
    if (migrations.some(({ name }) => !done.has(name))) await applyInTurns(pool, migrations);
  } catch (error) {
    throw explained(error);
  } finally {
    await pool.end();
  }
}

/** What was finished stays, so that a try after a lock that was not had goes on from there. */
async function applyInTurns(pool: pg.Pool, migrations: readonly Migration[]): Promise<void> {
  // Loaded where something is to be run: the Migrator takes half a second of CPU, and most starts find the schema up to date.
  const { runPending } = await import('./migrator.ts');
  for (let tries = 1; ; tries += 1) {
    try {
      await runPending(pool, migrations, LOCK_TIMEOUT_MS);
      return;
    } catch (error) {
      if ((error as { code?: unknown }).code !== LOCK_NOT_AVAILABLE || tries === MOST_TRIES) throw error;
      await sleep(PAUSE_MS);
    }
  }
}

/** What ran is what would run now (ADR 0056). */
function requireSame(done: readonly Done[], migrations: readonly Migration[]): void {
  const last = done.at(-1)?.name;
  if (last !== undefined && !done.some(({ name }) => name === FIRST)) {
    throw new SchemaTooOld(`by migrations that were squashed since (the last one was ${last})`);
  }
  const digests = new Map(migrations.map(({ name, digest }) => [name, digest]));
  const changed = done.find(({ name, digest }) => digests.has(name) && digests.get(name) !== digest);
  if (changed !== undefined) throw new SchemaTooOld(`by a ${changed.name} that was changed since`);
}

async function hasLock(pool: pg.Pool): Promise<boolean> {
  const { rows } = await pool.query<{ held: boolean }>('select pg_try_advisory_lock($1) as held', [LOCK]);
  return rows[0]?.held === true;
}

const LOCK_NOT_AVAILABLE = '55P03';
