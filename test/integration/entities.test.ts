import { MikroORM } from '@mikro-orm/postgresql';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openDatabase } from '../../db/database.ts';
import { TenantHost } from '../../db/entities/hosts.ts';
import { Tenant } from '../../db/entities/tenants.ts';
import { ENTITIES } from '../../db/entities.ts';
import { openOrm, readerOf } from '../../db/orm.ts';
import { compareEntities } from '../../tools/check/entities.ts';
import { insertTenant } from '../support/ledger.ts';
import type { TestDatabase } from '../support/parts.ts';
import { createDatabase } from '../support/parts.ts';
import { query } from '../support/sql.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database.drop());

test('the entities are the migrated schema, table for table and column for column', async () => {
  expect(await compareEntities(database.ownerUrl)).toEqual([]);
});

test('whatever a migration does to a column is told with the column’s name', async () => {
  const changed = await createDatabase();
  try {
    await query(
      changed.ownerUrl,
      `alter table member rename column email to mailbox;
       alter table webhook_endpoint alter column failures_in_row type bigint;
       alter table webhook_endpoint alter column url drop not null;
       alter table webhook_endpoint alter column enabled set default false;
       alter table denied_licence drop constraint denied_licence_pkey;
       create table nobody_knows (id integer)`,
    );
    const found = await compareEntities(changed.ownerUrl);
    expect(found).toEqual(
      expect.arrayContaining([
        'public.member.mailbox is in no entity',
        'public.member.email is in its entity and not in the database',
        'public.webhook_endpoint.failures_in_row: type is bigint in the database and integer in its entity',
        'public.webhook_endpoint.url: isNullable is true in the database and false in its entity',
        'public.webhook_endpoint.enabled: default is false in the database and true in its entity',
        'public.nobody_knows has no entity',
      ]),
    );
    expect(found.some((one) => one.startsWith('public.denied_licence.') && one.includes('key is 0 in the database'))).toBe(true);
  } finally {
    await changed.drop();
  }
});

test('MikroORM’s EntityManager reads rows of the site it is bound to, whatever else is asked for, and none where it is bound to no site', async () => {
  const opened = await openDatabase({ url: database.appUrl, poolSize: 1 });
  try {
    const [own, other] = [await insertTenant(opened, 'own.example'), await insertTenant(opened, 'other.example')];
    const orm = openOrm(opened.pool);
    const site = readerOf(orm, own);
    expect((await site.find(TenantHost, {})).map(({ host }) => host)).toEqual(['own.example']);
    expect(await site.findOne(TenantHost, { host: 'other.example' })).toBe(null);
    expect(await site.count(Tenant, { tenantId: other })).toBe(0);
    await expect(orm.em.fork().find(TenantHost, {})).rejects.toThrow(/filter 'site'/);
  } finally {
    await opened.close();
  }
});

/** A value of each type that a column has. */
const SAMPLES: Readonly<Record<string, string>> = {
  uuid: "'00000000-0000-4000-8000-000000000000'",
  boolean: 'true',
  date: "'2026-01-31'",
  bytea: "'\\x01'",

  'text[]': "'{a}'",
  'uuid[]': "'{00000000-0000-4000-8000-000000000000}'",
  tsvector: "'word'",
};

test('the driver gives each column type as its entity says', async () => {
  const orm = new MikroORM({ dbName: 'entities', entities: [...ENTITIES] });
  const said = new Map<string, Set<string>>();
  for (const { props } of orm.getMetadata().getAll().values()) {
    for (const { columnTypes, runtimeType } of props) {
      const type = String(columnTypes[0]);
      said.set(type, (said.get(type) ?? new Set()).add(runtimeType));
    }
  }
  await orm.close();
  const opened = await openDatabase({ url: database.appUrl, poolSize: 1 });
  for (const [type, kinds] of said) {
    if (type.startsWith('json')) continue; // of any shape
    const sample = SAMPLES[type] ?? (type.startsWith('timestamptz') ? "'2026-01-31'" : "'1'");
    const [row] = await opened.query<{ value: unknown }>(`select ${sample}::${type} as value`);
    expect([type, ...kinds]).toEqual([type, kindOf(row?.value)]);
  }
  await opened.close();
});

function kindOf(value: unknown): string {
  if (Array.isArray(value)) return 'string[]';
  if (value instanceof Date) return 'Date';
  if (value instanceof Uint8Array) return 'Buffer';
  return typeof value === 'object' ? 'object' : typeof value;
}
