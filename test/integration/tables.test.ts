import { afterAll, beforeAll, expect, test } from 'vitest';
import type { TestDatabase } from '../support/parts.ts';
import { createDatabase } from '../support/parts.ts';
import { query } from '../support/sql.ts';

/** ADR 0056 says why there are so many. The number goes down only: a table more takes the place of another. */
const TABLES = 90;

let urls: TestDatabase;
beforeAll(async () => {
  urls = await createDatabase();
});
afterAll(() => urls.drop());

test('the schema has no table more than it had: those of the service, and of closed months, without partitions', async () => {
  const rows = await query(
    urls.ownerUrl,
    `select n.nspname || '.' || c.relname as name from pg_class as c join pg_namespace as n on n.oid = c.relnamespace
      where c.relkind in ('r', 'p') and not c.relispartition and n.nspname in ('public', 'archive', 'ledger') order by 1`,
  );
  expect(rows.map(({ name }) => name)).toHaveLength(TABLES);
});
