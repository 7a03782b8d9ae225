import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createAdminProgram } from '../../bin/admin/program.ts';
import type { Database } from '../../db/database.ts';
import { openDatabase } from '../../db/database.ts';
import { dropDayPartition, listDayPartitions } from '../../db/partitions.ts';
import { KEPT_DAYS } from '../../modules/kernel/time/window.ts';
import { dropPartitions } from '../../modules/operations/use/partitions.ts';
import { findMismatches } from '../../modules/reports/store/rollupCheck.ts';
import { checkRollups, gatherRollups, rebuildAll } from '../../modules/reports/use/rollups.ts';
import { readAdminConfig } from '../../process/config.ts';
import { insertTenant } from '../support/ledger.ts';
import type { TestDatabase } from '../support/parts.ts';
import { createDatabase } from '../support/parts.ts';
import { insertPurchases, insertSeen, seenOn } from '../support/reports.ts';
import { query } from '../support/sql.ts';

const DAY_MS = 86_400_000;
/** Older than anything a plan reads. */
const OLD_DAYS = ['2012-02-28', '2012-02-29', '2012-03-01'];

let own: TestDatabase;
let database: Database;
let tenantId: string;

beforeAll(async () => {
  own = await createDatabase();
  database = await openDatabase({ url: own.appUrl });
  tenantId = await insertTenant(database);
});
afterAll(async () => {
  await database.close();
  await own.drop();
});

const nameOf = (day: string): string => `observation_${day.replaceAll('-', '')}`;
const daysAgo = (days: number): string => new Date(Date.now() - days * DAY_MS).toISOString().slice(0, 10);

/** A day of its own for observations, as it was made when that day was to come. */
async function makeDay(day: string): Promise<void> {
  const next = new Date(Date.parse(day) + DAY_MS).toISOString();
  await query(
    own.ownerUrl,
    `create table if not exists ${nameOf(day)} partition of observation for values from ('${day} 00:00:00+00') to ('${next}')`,
  );
}

/** Three observations and a purchase of a day. */
async function fillDay(day: string): Promise<void> {
  const atMs = Date.parse(day) + 3_600_000;
  const seen = seenOn({ tenantId, host: 'alpha.example' }, { atMs });
  await insertSeen(database, [seen, seen, { ...seen, atMs: atMs + 3_600_000 }]);
  const legs = [{ toAddress: `0x${'1'.repeat(40)}`, amountMicro: 1_000 }];
  await insertPurchases(database, [{ tenantId, host: 'alpha.example', slug: 'solo', kind: 'read', atMs, steps: 1, legs }]);
}

/** Runs a command of the operator; what it prints. */
async function admin(isOwner: boolean, ...args: string[]): Promise<Record<string, unknown>> {
  const printed: unknown[] = [];
  const environment = {
    NODE_ENV: 'test',
    DATABASE_URL: own.appUrl,
    API_KEY_PEPPER: 'p'.repeat(44),
    ...(isOwner ? { DATABASE_OWNER_URL: own.ownerUrl } : {}),
  };
  const program = createAdminProgram({
    open: async () => ({ database, config: readAdminConfig(environment) }),
    print: (value) => printed.push(JSON.parse(JSON.stringify(value))),
  });
  await program.parseAsync(['partitions', ...args], { from: 'user' });
  expect(printed).toHaveLength(1);
  return printed[0] as Record<string, unknown>;
}

const names = async (): Promise<string[]> => (await listDayPartitions(database)).map(({ name }) => name);
const sums = (table: string): Promise<unknown[]> =>
  database.query(`select * from ${table} where tenant_id = $1 order by ${table}`, [tenantId]);
const ROLLUPS = ['crossing_hour', ...['day', 'month'].flatMap((unit) => [`observation_${unit}`, `crossing_${unit}`])];
const allSums = (): Promise<unknown[][]> => Promise.all(ROLLUPS.map(sums));

test('old days are named first, dropped only when told so, and once; rows of money and every sum stay', async () => {
  for (const day of OLD_DAYS) {
    await makeDay(day);
    await fillDay(day);
  }
  await query(own.ownerUrl, 'analyze observation');
  const before = { partitions: await names(), sums: await allSums() };
  const listed = await admin(false, 'list');
  expect(listed['firstKeptDay']).toBe(daysAgo(KEPT_DAYS + 35));
  expect((listed['partitions'] as { name: string }[]).map(({ name }) => name)).toEqual(before.partitions);

  const said = await admin(false, 'drop', '--before', '2012-03-01');
  const planned = OLD_DAYS.slice(0, 2).map((day) => ({ name: nameOf(day), day, rowsEstimate: 3, bytes: expect.any(Number) }));
  expect(said).toEqual({ before: '2012-03-01', planned, dropped: [] });
  expect(await names()).toEqual(before.partitions);

  const done = await admin(true, 'drop', '--before', '2012-03-01', '--yes');
  expect(done).toEqual({ before: '2012-03-01', planned, dropped: planned.map(({ name }) => name) });
  expect(await names()).toEqual(before.partitions.slice(2));
  expect(await admin(true, 'drop', '--before', '2012-03-01', '--yes')).toEqual({
    before: '2012-03-01',
    planned: [],
    dropped: [],
  });

  expect(await database.query('select at::text from observation where tenant_id = $1', [tenantId])).toHaveLength(3);
  for (const table of ['payment', 'crossing', 'leg']) {
    expect(await database.query(`select 1 from ${table} where tenant_id = $1`, [tenantId])).toHaveLength(3);
  }
  expect(await allSums()).toEqual(before.sums);
});

test('neither the check nor a rebuild touches the sums of observations that may be gone; sums of money are mended however old', async () => {
  const recent = daysAgo(3);
  await makeDay(recent);
  await fillDay(recent);
  const deps = { database, clock: Date.now };
  await gatherRollups(deps, { days: null, tenantId });
  const before = await allSums();
  expect(await findMismatches(database, tenantId, { fromMs: 0, toMs: null })).toEqual([]);
  expect(await checkRollups(deps, { days: null, tenantId })).toEqual([]);
  await rebuildAll(deps, { days: null, tenantId });
  expect(await allSums()).toEqual(before);

  await database.query(
    "update crossing_day set micro = micro + 1 where bucket = '2012-02-28 00:00:00+00' and dimension = 'total'",
  );
  await database.query("update observation_day set hits = hits + 1 where bucket >= '2020-01-01' and dimension = 'total'");
  const [found] = await checkRollups(deps, { days: null, tenantId });
  expect(found?.mismatches.map(({ table }) => table)).toEqual([
    'crossing_day',
    'crossing_month',
    'observation_day',
    'observation_month',
  ]);
  expect(await allSums()).toEqual(before);
});

test('what the longest plan may read is refused, with the first day that stays; so is a drop without the owner of the tables', async () => {
  const edge = daysAgo(KEPT_DAYS + 35);
  await makeDay(edge);
  const tooNew = daysAgo(KEPT_DAYS + 34);
  await expect(admin(true, 'drop', '--before', tooNew, '--yes')).rejects.toMatchObject({
    code: 'invalid_parameter',
    text: expect.stringContaining(edge),
  });
  await expect(admin(false, 'drop', '--before', '2012-03-02', '--yes')).rejects.toThrow(/DATABASE_OWNER_URL/);
  expect((await admin(true, 'drop', '--before', edge))['planned']).toMatchObject([{ name: nameOf('2012-03-01') }]);
  expect(await names()).toContain(nameOf(edge));
  const owner = await openDatabase({ url: own.ownerUrl, poolSize: 1 });
  const bare = { name: nameOf(edge), day: '2012-01-01', rowsEstimate: null, bytes: 0 };
  await expect(dropDayPartition(owner, bare)).rejects.toThrow(/not old enough/);
  for (const name of ['crossing', 'leg', 'payment', 'chain_transfer', 'observation', 'observation_default', 'observation_day']) {
    expect(await dropDayPartition(owner, { ...bare, name })).toBe('gone');
  }
  await owner.close();
});

test('tables that only look like a day of observations are not taken for one', async () => {
  const before = await names();
  await query(own.ownerUrl, 'create table observation_20110101 (at timestamptz)');
  await query(
    own.ownerUrl,
    `create table observation_20110301 partition of observation for values from ('2011-03-01 00:00:00+00') to ('2011-04-01 00:00:00+00')`,
  );
  expect(await names()).toEqual(before);
  expect((await admin(true, 'drop', '--before', '2012-01-01', '--yes'))['dropped']).toEqual([]);
});

test('a drop gives way to writers: it waits for the one it met while another goes past it', async () => {
  let release = (): void => undefined;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  let isHolding = (): void => undefined;
  const holding = new Promise<void>((resolve) => {
    isHolding = resolve;
  });
  const insert = `insert into observation (tenant_id, observation_id, host, slug, verdict, classified_as, agent, at)
    values ($1, $2, 'alpha.example', 'solo', 'denied', 'agent', 'other', now())`;
  const writer = database.transaction(async (sql) => {
    await sql.query(insert, [tenantId, randomUUID()]);
    isHolding();
    await held;
  });
  await holding;
  const dropped = admin(true, 'drop', '--before', '2012-03-02', '--yes');
  const waits = `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query like 'drop table%'`;
  await expect.poll(() => query(own.superUrl, waits)).toHaveLength(1);
  await database.query(insert, [tenantId, randomUUID()]);
  expect(await names()).toContain(nameOf('2012-03-01'));
  release();
  await writer;
  expect(await dropped).toMatchObject({ dropped: [nameOf('2012-03-01')] });
  expect(
    await database.query("select 1 from observation where tenant_id = $1 and at > now() - interval '1 hour'", [tenantId]),
  ).toHaveLength(2);
});

test('a day that stays in use is given up after some tries and named, and the days before it are gone by then', async () => {
  const days = ['2011-06-01', '2011-06-02', '2011-06-03'];
  for (const day of days) await makeDay(day);
  const reader = await openDatabase({ url: own.ownerUrl, poolSize: 1 });
  const owner = await openDatabase({ url: own.ownerUrl, poolSize: 1 });
  try {
    await reader.transaction(async (sql) => {
      await sql.query(`select 1 from ${nameOf('2011-06-02')}`);
      const planned = (await listDayPartitions(database)).filter(({ day }) => days.includes(day));
      await expect(dropPartitions(owner, planned, 2)).rejects.toMatchObject({
        code: 'conflict',
        text: expect.stringMatching(/observation_20110602 is in use .*1 were dropped/),
      });
    });
    const left = (await names()).filter((name) => name.startsWith('observation_201106'));
    expect(left).toEqual([nameOf('2011-06-02'), nameOf('2011-06-03')]);
  } finally {
    await Promise.all([reader.close(), owner.close()]);
  }
});
