import { setImmediate } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Database } from '../../db/database.ts';
import { openDatabase } from '../../db/database.ts';
import { openReadSnapshot } from '../../modules/reports/store/snapshot.ts';
import type { TestDatabase } from '../support/parts.ts';
import { createDatabase } from '../support/parts.ts';

/** The driver warns once a process of statements that it has to queue, so that this file has one test of it and no second one. */

let urls: TestDatabase;
let database: Database;
const warnings: string[] = [];
const warned = ({ message }: Error): number => warnings.push(message);
beforeAll(async () => {
  process.on('warning', warned);
  urls = await createDatabase();
  database = await openDatabase({ url: urls.appUrl, poolSize: 1 });
});
afterAll(async () => {
  process.off('warning', warned);
  await database.close();
  await urls.drop();
});

const NUMBERS = [1, 2, 3, 4];

test('what is asked at once of one connection is asked one after the other, in its order, and the driver queues nothing', async () => {
  const all = (sql: Pick<Database, 'query'>) =>
    Promise.all(NUMBERS.map(async (n) => (await sql.query<{ n: number }>('select $1::int as n', [n]))[0]?.n));
  expect(await database.transaction(all)).toEqual(NUMBERS);
  const short = await database.shortTransaction(async (sql) => {
    expect(await all(sql)).toEqual(NUMBERS);
    return () => all(sql);
  });
  expect(short).toEqual(NUMBERS);
  const snapshot = await openReadSnapshot(database);
  expect(await all(snapshot)).toEqual(NUMBERS);
  await snapshot.close();

  // One that fails lets none after it through, and the connection is whole again for the next.
  const failing = database.transaction((sql) =>
    Promise.all([sql.query('select 1 / 0'), ...NUMBERS.map(() => sql.query('select 1'))]),
  );
  await expect(failing).rejects.toMatchObject({ code: '22012' });
  expect(await database.transaction(all)).toEqual(NUMBERS);
  await setImmediate(); // warnings are told after the turn they come in
  expect(warnings).toEqual([]);
});
