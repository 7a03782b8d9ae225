import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Database } from '../../db/database.ts';
import { openDatabase } from '../../db/database.ts';
import { isDatabaseOutage } from '../../db/outage.ts';
import { isServiceError } from '../../modules/kernel/errors.ts';
import { openReadSnapshot } from '../../modules/reports/store/snapshot.ts';
import type { TestDatabase } from '../support/parts.ts';
import { createDatabase } from '../support/parts.ts';
import type { CutProxy } from '../support/proxy.ts';
import { startProxy } from '../support/proxy.ts';

let urls: TestDatabase;
let proxy: CutProxy;
let database: Database;

beforeAll(async () => {
  urls = await createDatabase();
  const url = new URL(urls.appUrl);
  proxy = await startProxy(Number(url.port));
  url.port = String(proxy.port);
  database = await openDatabase({ url: url.href, poolSize: 2, pipelined: true });
});
afterAll(async () => {
  await database.close();
  await proxy.close();
  await urls.drop();
});

const WAYS: Readonly<Record<string, () => Promise<unknown>>> = {
  'a statement': () => database.query('select 1'),
  'a transaction that cannot begin': () => database.transaction((sql) => sql.query('select 1')),
  'a transaction that cannot commit': () =>
    database.transaction(async (sql) => {
      await sql.query('select 1');
      proxy.cut();
    }),
  'a transaction that is cut in the middle': () =>
    database.transaction(async (sql) => {
      await sql.query('select 1');
      proxy.cut();
      return sql.query('select 1');
    }),
  'a short transaction that cannot begin': () => database.shortTransaction(async () => () => Promise.resolve()),
  'a short transaction that cannot commit': () =>
    database.shortTransaction(async (sql) => {
      await sql.query('select 1');
      return async () => proxy.cut();
    }),
  'a snapshot that cannot be opened': () => openReadSnapshot(database),
  'a snapshot that is cut': async () => {
    const snapshot = await openReadSnapshot(database);
    proxy.cut();
    return snapshot.query('select 1').finally(() => snapshot.close());
  },
};

test.for(Object.keys(WAYS))(
  '%s is database_unavailable in an outage, for callers without the reason and for logs with it',
  async (name) => {
    if (!/cut|commit/.test(name)) proxy.cut();
    const error: unknown = await (WAYS[name] as () => Promise<unknown>)().catch((thrown: unknown) => thrown);
    proxy.mend();
    if (!isServiceError(error)) throw error;
    expect(error).toMatchObject({ code: 'database_unavailable', details: { retryAfterSeconds: 2 } });
    expect(isDatabaseOutage(error)).toBe(true);
    const reason = (error.cause as Error).message;
    expect(error.text).not.toContain(reason);
    expect(String(error)).toContain(reason);
  },
);

test('what Postgres refuses, or gives up for taking too long, is no outage', async () => {
  await expect(database.query('select 1 / 0')).rejects.toMatchObject({ code: '22012' });
  const slow = database.transaction(async (sql) => {
    await sql.query('set local statement_timeout = 50');
    await sql.query('select pg_sleep(5)');
  });
  await expect(slow).rejects.toMatchObject({ code: '57014' });
});
