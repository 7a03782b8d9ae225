import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Database } from '../../db/database.ts';
import { openDatabase } from '../../db/database.ts';
import { sameText } from '../../db/sameText.ts';
import type { TestDatabase } from '../support/parts.ts';
import { createDatabase } from '../support/parts.ts';

let urls: TestDatabase;
let database: Database;
beforeAll(async () => {
  urls = await createDatabase();
  database = await openDatabase({ url: urls.appUrl });
});
afterAll(async () => {
  await database.close();
  await urls.drop();
});

test('texts with one hash, as two of a few hundred thousand wallets have, are not the same; equal ones are', async () => {
  const wallets = `select '0x' || substr(md5(n::text) || md5(n::text), 1, 40) as wallet from generate_series(1, 400000) as n`;
  const pairs = await database.query<{ a: string; b: string; same: boolean; own: boolean }>(
    `select a, b, ${sameText('a', 'b')} as same, ${sameText('a', 'a')} as own from (
       select min(wallet) as a, max(wallet) as b from (${wallets}) as made group by hashtext(wallet) having count(*) > 1) as pairs`,
  );
  expect(pairs.length).toBeGreaterThan(0);
  for (const { a, b, same, own } of pairs) expect([a === b, same, own]).toEqual([false, false, true]);
});
