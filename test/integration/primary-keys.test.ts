import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Database } from '../../db/database.ts';
import { openDatabase } from '../../db/database.ts';
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

test('the primary key of every table that has a tenant starts with tenant_id, except tables of global uniqueness', async () => {
  const rows = await database.query<{ table_name: string; first: string }>(
    `select class.relname as table_name, attribute.attname as first
       from pg_index
       join pg_class class on class.oid = pg_index.indrelid
       join pg_attribute attribute on attribute.attrelid = class.oid and attribute.attnum = pg_index.indkey[0]
      where pg_index.indisprimary and class.relnamespace = 'public'::regnamespace and not class.relispartition
        and exists (select 1 from pg_attribute a where a.attrelid = class.oid and a.attname = 'tenant_id')`,
  );
  const global = rows.filter((row) => row.first !== 'tenant_id').map((row) => row.table_name);
  const uniqueInTheWorld = [
    'account_licence',
    'api_key_hash',
    'authorization_claim',
    'host_claim',
    'member_invite_hash',
    'transfer_claim',
  ];
  const foundByItself = ['operator_alert', 'owner_token', 'payment_intake'];
  expect(global.sort()).toEqual([...uniqueInTheWorld, ...foundByItself].sort());
});
