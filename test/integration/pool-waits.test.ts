import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Database } from '../../db/database.ts';
import { openDatabase } from '../../db/database.ts';
import { poolUse, tellWaits } from '../../db/poolWait.ts';
import type { TestDatabase } from '../support/parts.ts';
import { createDatabase } from '../support/parts.ts';

let urls: TestDatabase;
let database: Database;
const waits: number[] = [];
beforeAll(async () => {
  urls = await createDatabase();
  database = await openDatabase({ url: urls.appUrl, poolSize: 1 });
  tellWaits(database.pool, (ms) => waits.push(ms));
});
afterAll(async () => {
  await database.close();
  await urls.drop();
});

test('work that finds a connection waits for nothing; work that meets a full pool is told of with the time it waited', async () => {
  await database.query('select 1');
  await database.query('select 1');
  expect(waits).toEqual([]);
  expect(poolUse(database.pool)).toEqual({ used: 0, idle: 1, waiting: 0 });

  const held = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  const holder = database.transaction(async () => {
    begun.resolve();
    await held.promise;
  });
  await begun.promise;
  // By statement and by transaction: each way takes its connections from the same pool.
  const waiting = [database.query('select 1'), database.transaction((sql) => sql.query('select 1'))];
  await expect.poll(() => poolUse(database.pool)).toEqual({ used: 1, idle: 0, waiting: 2 });
  const allWaitAt = performance.now();
  await setTimeout(30);
  const heldMs = performance.now() - allWaitAt;
  held.resolve();
  await Promise.all([holder, ...waiting]);
  expect(waits).toHaveLength(2);
  expect(Math.min(...waits)).toBeGreaterThanOrEqual(heldMs - 1);
});

test('work that gives up waiting is told of with the whole time it waited', async () => {
  waits.length = 0;
  const client = await database.pool.connect();
  const startedAt = performance.now();
  const full = { code: 'database_unavailable', cause: { message: expect.stringContaining('timeout') } };
  await expect(database.query('select 1')).rejects.toMatchObject(full);
  const waitedMs = performance.now() - startedAt;
  client.release();
  expect(waits).toHaveLength(1);
  expect(waits[0]).toBeGreaterThan(4_900); // a connection is waited for for 5 s
  expect(waits[0]).toBeLessThanOrEqual(waitedMs);
});
