import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openDatabase } from '../../db/database.ts';
import { migrate, SchemaTooOld } from '../../db/migrate.ts';
import type { Migration } from '../../db/migrations.ts';
import { listMigrations, migrationOf } from '../../db/migrations.ts';
import { createDatabase as createEmpty, dropDatabase } from '../../sandbox/parts/postgres/roles.ts';
import type { TestDatabase } from '../support/parts.ts';
import { createDatabase } from '../support/parts.ts';
import { query } from '../support/sql.ts';

let copied: TestDatabase;
const names: string[] = [];
beforeAll(async () => {
  copied = await createDatabase();
});
afterAll(async () => {
  for (const name of names) await dropDatabase(copied.superUrl, name);
  await copied.drop();
});

const on = (url: string, name: string): string => Object.assign(new URL(url), { pathname: `/${name}` }).href;

/** A migration of the next release. */
const next = (sql: string): Migration => migrationOf('9999_next.sql', sql);

/** A database without a schema. */
async function empty(): Promise<{ readonly owner: string; readonly app: string }> {
  const name = `svc_upgrade_${randomUUID().replaceAll('-', '').slice(0, 12)}`;
  await createEmpty(copied.superUrl, name);
  names.push(name);
  return { owner: on(copied.ownerUrl, name), app: on(copied.appUrl, name) };
}

test('a database of before the migrations were squashed is refused in one sentence, and nothing of it is touched', async () => {
  const database = await empty();
  await query(database.owner, 'create table schema_migration (id serial primary key, name varchar(255) not null)');
  await query(database.owner, "insert into schema_migration (name) values ('0001_ledger.sql'), ('0054_narrower_indexes.sql')");
  const refused = await migrate(database.owner).catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(SchemaTooOld);
  expect((refused as Error).message).toMatch(
    /^This database was made before 0\.1\.0, .*0054_narrower_indexes\.sql.* start with an empty database\.$/,
  );
  const tables = "select relname from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r'";
  expect(await query(database.owner, tables)).toEqual([{ relname: 'schema_migration' }]);
});

test('a database that an earlier text of a migration made is refused in one sentence, and nothing of it is touched', async () => {
  const database = await empty();
  const [first] = listMigrations() as [Migration];
  await migrate(database.owner, [first]);
  const changed = migrationOf(first.name, `${first.statements.join('')}\ncreate table later ();`);
  const refused = await migrate(database.owner, [changed, next('create table after_it ();')]).catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(SchemaTooOld);
  expect((refused as Error).message).toBe(
    'This database was made before 0.1.0, by a 0001_tenants.sql that was changed since: nothing was changed, start with an empty database.',
  );
  expect(await query(database.owner, "select to_regclass('later') as later, to_regclass('after_it') as after_it")).toEqual([
    { later: null, after_it: null },
  ]);
  await migrate(database.owner, [first]);
});

test('a database whose migrations were noted without their texts is refused, too', async () => {
  const database = await empty();
  await migrate(database.owner, listMigrations().slice(0, 1));
  await query(database.owner, 'alter table schema_migration drop column digest');
  await expect(migrate(database.owner)).rejects.toThrow('by a 0001_tenants.sql that was changed since: nothing was changed');
});

test('several migrators at once leave one schema: each waits for the lock, and the later ones find nothing to do', async () => {
  const database = await empty();
  await Promise.all([migrate(database.owner), migrate(database.owner), migrate(database.owner)]);
  const done = (await query(database.owner, 'select name from schema_migration order by name')).map((row) => row['name']);
  expect(done).toEqual(listMigrations().map(({ name }) => name));
  await migrate(database.owner);
  expect(await query(database.owner, 'select 1 from schema_migration')).toHaveLength(done.length);
});

test('a migration that waits for a lock lets live writes pass, and goes on by itself when the lock is free', async () => {
  const database = await empty();
  await migrate(database.owner);
  const app = await openDatabase({ url: database.app, poolSize: 2, statementTimeoutMs: 15_000 });
  const write = 'lock table payment_state in row exclusive mode';
  let migrating: Promise<void> | undefined;
  await app.transaction(async (held) => {
    await held.query(write);
    migrating = migrate(database.owner, [next('alter table payment_state add column note text;')]);
    // A copy of a database has the same numbers for its tables.
    const waits = `select 1 from pg_locks join pg_database on pg_database.oid = pg_locks.database
      where datname = current_database() and relation = 'payment_state'::regclass and not granted`;
    await expect.poll(async () => (await app.query(waits)).length, { interval: 20 }).toBe(1);
    await app.transaction((live) => live.query(write));
  });
  await migrating;
  expect(await query(database.owner, 'select 1 from schema_migration')).toHaveLength(listMigrations().length + 1);
  await app.close();
});

const INDEX = `-- outside a transaction
drop index concurrently if exists payment_later;
create index concurrently payment_later on payment_intake (tenant_id, payer);
`;

test('an index built beside live writes waits for an older snapshot as long as that is open, and is then whole', async () => {
  const database = await empty();
  await migrate(database.owner);
  const reading = await openDatabase({ url: database.owner, poolSize: 1 });
  const watching = await openDatabase({ url: database.owner, poolSize: 1 });
  let migrating: Promise<void> | undefined;
  await reading.transaction(async (held) => {
    await held.query('select 1 from payment_intake');
    migrating = migrate(database.owner, [next(INDEX)]);
    migrating.catch(() => undefined);
    const waits = `select max(extract(epoch from clock_timestamp() - query_start))::float8 as seconds, count(*)::int as count
      from pg_stat_activity where datname = current_database() and query like 'create index concurrently%' and wait_event_type = 'Lock'`;
    const waited = async (): Promise<number> => Number((await watching.query<{ seconds: number }>(waits))[0]?.seconds ?? 0);
    // Longer than any other statement of a migration waits: it is still the same one.
    await expect.poll(waited, { interval: 100 }).toBeGreaterThan(3);
  }, 'repeatable read read only');
  await migrating;
  expect(await watching.query('select indexrelid::regclass::text from pg_index where not indisvalid')).toEqual([]);
  expect(await watching.query('select 1 from schema_migration')).toHaveLength(listMigrations().length + 1);
  await Promise.all([reading.close(), watching.close()]);
});

test('a migration outside a transaction builds its index beside writes that are open', async () => {
  await migrate(copied.ownerUrl, [next(INDEX)]);
  const built = "select indisvalid as valid from pg_index where indexrelid = 'payment_later'::regclass";
  expect(await query(copied.ownerUrl, built)).toEqual([{ valid: true }]);
});
