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

interface Column extends Record<string, unknown> {
  readonly table_name: string;
  readonly column_name: string;
  readonly is_nullable: 'YES' | 'NO';
}

const columns = (): Promise<Column[]> =>
  database.query<Column>(
    "select table_name, column_name, is_nullable from information_schema.columns where table_schema = 'public'",
  );

test('every property of an entity is a column of its table, as nullable as the table says', async () => {
  const known = new Map((await columns()).map((column) => [`${column.table_name}.${column.column_name}`, column]));
  const wrong: string[] = [];
  for (const meta of Object.values(database.orm.getMetadata().getAll())) {
    for (const property of meta.comparableProps.concat(meta.getPrimaryProps())) {
      const column = known.get(`${meta.tableName}.${property.fieldNames[0]}`);
      if (!column) wrong.push(`${meta.tableName}.${property.fieldNames[0]} is not there`);
      else if ((column.is_nullable === 'YES') !== (property.nullable ?? false))
        wrong.push(`${meta.tableName}.${property.name} differs`);
    }
  }
  expect(wrong).toEqual([]);
});

test('every column of an entity table is a property, so that writing an entity forgets nothing', async () => {
  const entities = Object.values(database.orm.getMetadata().getAll());
  const names = entities.flatMap((meta) =>
    Object.values(meta.properties as Record<string, { fieldNames: string[] }>).flatMap((property) =>
      property.fieldNames.map((name) => `${meta.tableName}.${name}`),
    ),
  );
  const mapped = new Set(names);
  const tables = new Set(entities.map((meta) => meta.tableName));
  const forgotten = (await columns())
    .filter((column) => tables.has(column.table_name))
    .map((column) => `${column.table_name}.${column.column_name}`)
    .filter((name) => !mapped.has(name));
  expect(forgotten).toEqual([]);
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
    'host_lapse',
    'member_invite_hash',
    'transfer_claim',
  ];
  const foundByItself = ['operator_alert', 'owner_token'];
  expect(global.sort()).toEqual([...uniqueInTheWorld, ...foundByItself].sort());
});
