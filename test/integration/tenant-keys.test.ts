import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Database } from '../../db/database.ts';
import { openDatabase } from '../../db/database.ts';
import type { TestDatabase } from '../support/parts.ts';
import { createDatabase } from '../support/parts.ts';

/** Tables of a tenant whose uniqueness is the world's (safety 25). */
const GLOBAL = new Set([
  'authorization_claim',
  'transfer_claim',
  'host_claim',
  'api_key_hash',
  'owner_token',
  'member_invite_hash',
  'account_licence',
  'denied_licence',
  'operator_alert',
]);

let urls: TestDatabase;
let database: Database;
beforeAll(async () => {
  urls = await createDatabase();
  database = await openDatabase({ url: urls.appUrl, poolSize: 2 });
});
afterAll(async () => {
  await database.close();
  await urls.drop();
});

test('every unique key of a table of a tenant holds tenant_id, besides the tables whose keys are unique in the world', async () => {
  const rows = await database.query<{ table_name: string; columns: string[] }>(
    `select c.relname as table_name, array(select a.attname::text from unnest(i.indkey) as k (n)
         join pg_attribute as a on a.attrelid = c.oid and a.attnum = k.n) as columns
       from pg_index as i join pg_class as c on c.oid = i.indrelid
      where i.indisunique and c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
        and exists (select 1 from pg_attribute as t where t.attrelid = c.oid and t.attname = 'tenant_id')`,
  );
  expect(rows.length).toBeGreaterThan(25);
  const wrong = rows.filter(({ table_name: table, columns }) => !GLOBAL.has(table) && !columns.includes('tenant_id'));
  expect(wrong).toEqual([]);
});

test('every foreign key between tables of a tenant holds tenant_id on both sides', async () => {
  const rows = await database.query<{
    name: string;
    source: string;
    target: string;
    from_columns: string[];
    to_columns: string[];
  }>(
    `select k.conname as name, s.relname as source, t.relname as target,
       array(select a.attname::text from unnest(k.conkey) as c (n) join pg_attribute as a on a.attrelid = s.oid and a.attnum = c.n) as from_columns,
       array(select a.attname::text from unnest(k.confkey) as c (n) join pg_attribute as a on a.attrelid = t.oid and a.attnum = c.n) as to_columns
     from pg_constraint as k join pg_class as s on s.oid = k.conrelid join pg_class as t on t.oid = k.confrelid
     where k.contype = 'f' and k.connamespace = 'public'::regnamespace and not s.relispartition
       and exists (select 1 from pg_attribute as a where a.attrelid = s.oid and a.attname = 'tenant_id')
       and exists (select 1 from pg_attribute as a where a.attrelid = t.oid and a.attname = 'tenant_id')`,
  );
  expect(rows.length).toBeGreaterThan(15);
  const holds = (columns: readonly string[]): boolean => columns.includes('tenant_id');
  const wrong = rows.filter(({ from_columns: from, to_columns: to }) => !(holds(from) && holds(to)));
  expect(wrong).toEqual([]);
});
