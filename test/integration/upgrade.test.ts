import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Sql } from '../../db/database.ts';
import { openDatabase } from '../../db/database.ts';
import { migrate } from '../../db/migrate.ts';
import { listMigrations, migrationOf } from '../../db/migrations.ts';
import { findMismatches, gatherShards } from '../../db/reports/rollupCheck.ts';
import { wholeDays } from '../../domain/reports/window.ts';
import { createDatabase as createEmpty, dropDatabase } from '../../sandbox/parts/postgres/roles.ts';
import { insertCrossing, insertTenant } from '../support/ledger.ts';
import type { TestDatabase } from '../support/parts.ts';
import { createDatabase } from '../support/parts.ts';
import { OLD_FIX, PREVIOUS, rollUpOldCrossing, runOldStatements } from '../support/previous-release.ts';
import { insertPurchases } from '../support/reports.ts';
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

/** A database without a schema. */
async function empty(): Promise<{ readonly owner: string; readonly app: string }> {
  const name = `svc_upgrade_${randomUUID().replaceAll('-', '').slice(0, 12)}`;
  await createEmpty(copied.superUrl, name);
  names.push(name);
  return { owner: on(copied.ownerUrl, name), app: on(copied.appUrl, name) };
}

const tenantId = randomUUID();

test('the data of the previous release is upgraded, and its statements still work beside the new version', async () => {
  const database = await empty();
  const old = await openDatabase({ url: database.owner, poolSize: 1 });
  await old.orm.migrator.up({ to: PREVIOUS });
  await old.close();
  const [before, beside] = [randomUUID(), randomUUID()];
  await runOldStatements(database.app, before, 'old.example');

  await migrate(database.owner);
  const done = (await query(database.owner, 'select name from schema_migration order by name')).map((row) => row['name']);
  expect(done).toEqual(listMigrations().map(({ name }) => name));
  await runOldStatements(database.app, beside, 'next.example');
  const change = query(database.app, "update payment set pay_to = 'other' where tenant_id = $1", [beside]);
  await expect(change).rejects.toThrow(/permission denied for table payment_intake/);
  const kept = `select t.plan, h.host, p.state, p.own_finality, p.recorded, m.user_id, a.email, l.quoted_at is not null as heard
    from tenant as t join tenant_host as h using (tenant_id) join payment as p using (tenant_id) join member as m using (tenant_id)
      join alert_address as a using (tenant_id) join host_liveness as l on l.tenant_id = t.tenant_id and l.host = h.host
    where t.tenant_id = $1`;
  for (const [site, host] of [
    [before, 'old.example'],
    [beside, 'next.example'],
  ] as const) {
    const row = {
      plan: 'studio',
      host,
      state: 'settled',
      own_finality: true, // no batch makes final what the version before settled
      recorded: true,
      user_id: 'writer-1',
      email: 'owner@old.example',
      heard: true,
    };
    expect(await query(database.app, kept, [site]), host).toEqual([row]);
  }
  // What the new version settled in a batch is final by itself, once an old process took it back and settled it anew.
  await query(database.app, 'update payment_state set own_finality = false where tenant_id = $1', [beside]);
  for (const [state, own] of [
    ['settled', false],
    ['broadcast', true],
    ['settled', true],
  ]) {
    await query(database.app, 'update payment set state = $2 where tenant_id = $1', [beside, state]);
    expect(await query(database.app, kept, [beside])).toMatchObject([{ state, own_finality: own }]);
  }
});

test('what processes of the previous release decide at the same time as others is not lost, and they fix one licence', async () => {
  const site = randomUUID();
  await runOldStatements(copied.appUrl, site, 'both.example');
  const [one, two] = await Promise.all([1, 2].map(() => openDatabase({ url: copied.appUrl, poolSize: 1 })));
  if (!one || !two) throw new Error('two processes');
  const [{ payment_id: paymentId } = { payment_id: '' }] = await one.query<{ payment_id: string }>(
    'select payment.* from payment join unnest($1::uuid[]) as wanted (tenant_id) using (tenant_id) for update of payment',
    [[site]],
  );
  const fix = (sql: Sql) => sql.query<{ licence_jti: string }>(OLD_FIX, [[site], [paymentId], [randomUUID()], [1], [2], ['kid']]);
  const review = "update payment set state = 'review' where payment_id = $1";
  let late: Promise<unknown> | undefined;
  const first = await one.transaction(async (sql) => {
    const fixed = await fix(sql);
    late = fix(two);
    await waitsForLock();
    return fixed;
  });
  expect(await late).toEqual(first);
  await one.transaction(async (sql) => {
    await sql.query("update payment_state set state = 'final' where payment_id = $1", [paymentId]);
    late = two.query(review, [paymentId]);
    late.catch(() => undefined);
    await waitsForLock();
  });
  await expect(late).rejects.toMatchObject({ code: '40001' });
  expect(await one.query('select state from payment where payment_id = $1', [paymentId])).toEqual([{ state: 'final' }]);
  await Promise.all([one.close(), two.close()]);
});

/** Until another connection of this database waits for a lock. */
async function waitsForLock(): Promise<void> {
  const waits = "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
  await expect.poll(async () => (await query(copied.appUrl, waits)).length, { timeout: 30_000, interval: 20 }).toBe(1);
}

test('sums of earlier releases are added up to the months and hours of a site that the new version reads', async () => {
  const database = await empty();
  const old = await openDatabase({ url: database.owner, poolSize: 1 });
  await old.orm.migrator.up({ to: '0007_anomalies.sql' });
  await old.close();
  const other = randomUUID();
  for (const site of [tenantId, other]) {
    await query(
      database.app,
      `insert into crossing_day select $1, dimension, day, 'old.example', kind, '', lane, 1, 10
       from unnest(array['total', 'author']) dimension, unnest(array['read', 'citation']) kind, generate_series(0, 1) lane,
         unnest(array['2026-01-31', '2026-02-01', '2026-02-28']::timestamptz[]) day`,
      [site],
    );
    await query(
      database.app,
      `insert into crossing_hour select $1, dimension, '2026-01-31 07:00Z', 'old.example', 'read', key, 1, 2, 20
       from unnest(array['slug', 'author']) dimension, unnest(array['a', 'b']) key`,
      [site],
    );
    await query(
      database.app,
      `insert into observation_day select $1, dimension, day, '', 'paid', 'agent', '', '', 'gptbot', 0, 1, 10, 1, 0
       from unnest(array['total', 'full', 'label']) dimension, unnest(array['2026-01-31', '2026-02-01', '2026-02-28']::timestamptz[]) day`,
      [site],
    );
  }
  await migrate(database.owner);
  const months = (table: string, measure: string) =>
    query(
      database.app,
      `select dimension, to_char(bucket at time zone 'UTC', 'YYYY-MM-DD') as month, sum(${measure})::int as sum from ${table}
       where tenant_id = $1 group by 1, 2 order by 1, 2`,
      [other],
    );
  const expected = (dimensions: string[], january: number) =>
    dimensions.flatMap((dimension) => [
      { dimension, month: '2026-01-01', sum: january },
      { dimension, month: '2026-02-01', sum: 2 * january },
    ]);
  expect(await months('crossing_month', 'micro')).toEqual(expected(['author', 'total'], 40));
  expect(await months('observation_month', 'hits')).toEqual(expected(['label', 'total'], 1));
  const hours = "select kind, key, events::int, micro::int from crossing_hour where tenant_id = $1 and dimension = 'total'";
  expect(await query(database.app, hours, [other])).toEqual([{ kind: 'read', key: '', events: 4, micro: 40 }]);
});

test('sales that processes of both versions add to one day are all in it, before the night and after', async () => {
  const database = await openDatabase({ url: copied.appUrl, poolSize: 2 });
  try {
    const site = await insertTenant(database);
    const days = wholeDays(Date.now(), 4);
    const legs = [{ toAddress: `0x${'1'.repeat(40)}`, amountMicro: 10 }];
    const one = { tenantId: site, host: 'alpha.example', slug: 'solo', kind: 'read', atMs: days.fromMs, steps: 3, legs } as const;
    const { crossingId } = await insertCrossing(database, {
      tenantId: site,
      legs,
      secondsAgo: (Date.now() - days.fromMs) / 1_000,
    });
    await Promise.all([insertPurchases(database, [one, one]), rollUpOldCrossing(copied.appUrl, site, crossingId)]);
    expect(await findMismatches(database, site, days)).toEqual([]);
    expect(await gatherShards(database, site, days)).toBeGreaterThan(0);
    expect(await findMismatches(database, site, days)).toEqual([]);
  } finally {
    await database.close();
  }
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
  const old = await openDatabase({ url: database.owner, poolSize: 1 });
  await old.orm.migrator.up({ to: '0011_authors_and_cooling.sql' });
  await old.close();
  const app = await openDatabase({ url: database.app, poolSize: 2, statementTimeoutMs: 15_000 });
  const write = 'lock table payment in row exclusive mode';
  let migrating: Promise<void> | undefined;
  await app.transaction(async (held) => {
    await held.query(write);
    migrating = migrate(database.owner);
    const waits = "select 1 from pg_locks where relation = 'payment'::regclass and not granted";
    await expect.poll(async () => (await app.query(waits)).length, { timeout: 30_000, interval: 20 }).toBe(1);
    await app.transaction((live) => live.query(write));
  });
  await migrating;
  expect(await query(database.owner, 'select 1 from schema_migration')).toHaveLength(listMigrations().length);
  await app.close();
});

test('an index built beside live writes waits for an older snapshot as long as that is open, and is then whole', async () => {
  const database = await empty();
  const reading = await openDatabase({ url: database.owner, poolSize: 1 });
  await reading.orm.migrator.up({ to: '0025_operator.sql' });
  const watching = await openDatabase({ url: database.owner, poolSize: 1 });
  let migrating: Promise<void> | undefined;
  await reading.transaction(async (held) => {
    await held.query('select 1 from payment');
    migrating = migrate(database.owner);
    migrating.catch(() => undefined);
    const waits = `select max(extract(epoch from clock_timestamp() - query_start))::float8 as seconds, count(*)::int as count
      from pg_stat_activity where datname = current_database() and query like 'create index concurrently%' and wait_event_type = 'Lock'`;
    const waited = async (): Promise<number> => Number((await watching.query<{ seconds: number }>(waits))[0]?.seconds ?? 0);
    // Longer than any other statement of a migration waits: it is still the same one.
    await expect.poll(waited, { timeout: 30_000, interval: 100 }).toBeGreaterThan(3);
  }, 'repeatable read read only');
  await migrating;
  expect(await watching.query('select indexrelid::regclass::text from pg_index where not indisvalid')).toEqual([]);
  expect(await watching.query('select 1 from schema_migration')).toHaveLength(listMigrations().length);
  await Promise.all([reading.close(), watching.close()]);
});

test('a migration outside a transaction builds its index beside writes that are open', async () => {
  const owner = await openDatabase({ url: copied.ownerUrl, poolSize: 2 });
  const sql = `-- outside a transaction
drop index concurrently if exists payment_later;
create index concurrently payment_later on payment_intake (tenant_id, payer);
`;
  const { name, class: one } = migrationOf('9999_later.sql', sql);
  owner.orm.config.get('migrations').migrationsList?.push({ name, class: one });
  await owner.orm.migrator.up();
  const built = "select indisvalid as valid from pg_index where indexrelid = 'payment_later'::regclass";
  expect(await query(copied.ownerUrl, built)).toEqual([{ valid: true }]);
  await owner.close();
});
