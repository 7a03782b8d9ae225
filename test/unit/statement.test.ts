import { MikroORM } from '@mikro-orm/postgresql';
import { expect, test } from 'vitest';
import { ENTITIES } from '../../db/entities.ts';
import { SITE_TABLES } from '../../db/siteGuard.ts';
import { acrossSites, statement, tables } from '../../db/statement.ts';

const text = (written: { compile(): { readonly sql: string } }): string => written.compile().sql;

test('properties become columns, and Postgres names what comes back by the properties', () => {
  const written = tables.selectFrom('delivery as d').select(['d.deliveryId', 'd.dueAt', 'd.state']).where('d.tenantId', '=', 't');
  expect(text(written)).toBe(
    'select "d"."delivery_id" as "deliveryId", "d"."due_at" as "dueAt", "d"."state" from "delivery" as "d" where "d"."tenant_id" = $1',
  );
  expect(text(tables.deleteFrom('member').where('tenantId', '=', 't').returning(['authorId', 'email']))).toBe(
    'delete from "member" where "tenant_id" = $1 returning "author_id" as "authorId", "email"',
  );
});

test('a statement on rows of a site that does not say which site is refused when it is written', () => {
  const refused = /takes rows of delivery without their site/;
  expect(() => text(tables.selectFrom('delivery').select('state').where('deliveryId', '=', 'x'))).toThrow(refused);
  expect(() => text(tables.updateTable('delivery').set({ state: 'failed' }).where('deliveryId', '=', 'x'))).toThrow(refused);
  expect(() => text(tables.deleteFrom('delivery').where('deliveryId', '=', 'x'))).toThrow(refused);
  const endpoint = tables.selectFrom('webhook_endpoint as e').where('e.tenantId', '=', 't');
  const joined = endpoint.innerJoin('delivery as d', 'd.endpointId', 'e.endpointId').select('d.state');
  expect(() => text(joined)).toThrow(refused);
  const within = endpoint.select('e.url').where((e) => e.exists(e.selectFrom('delivery as d').select('d.state')));
  expect(() => text(within)).toThrow(refused);
});

test('a statement that compares the site of each table, with a value or with the table beside it, is written', () => {
  const joined = tables
    .selectFrom('webhook_endpoint as e')
    .innerJoin('delivery as d', (on) => on.onRef('d.tenantId', '=', 'e.tenantId').onRef('d.endpointId', '=', 'e.endpointId'))
    .select('d.state')
    .where('e.tenantId', '=', 't');
  expect(text(joined)).toContain('"d"."tenant_id" = "e"."tenant_id"');
  expect(() => text(tables.selectFrom('relayer').select('network'))).not.toThrow();
});

test('rows of every site are read by a statement that says who is answered with them', () => {
  const due = acrossSites('a worker').selectFrom('delivery').select('dueAt').where('deliveryId', '=', 'x');
  expect(text(due)).toBe('select "due_at" as "dueAt" from "delivery" where "delivery_id" = $1');
});

test('the tables that are guarded are those whose entity has the site in its key', async () => {
  const orm = new MikroORM({ dbName: 'ledger', entities: [...ENTITIES] });
  const keyed = [...orm.getMetadata().getAll().values()].filter(({ primaryKeys }) =>
    (primaryKeys as string[]).includes('tenantId'),
  );
  await orm.close();
  const names = keyed.map(({ schema, tableName }) => (schema === undefined ? tableName : `${schema}.${tableName}`));
  expect([...SITE_TABLES].sort()).toEqual(names.sort());
});

test('a statement is written once, and each call gives its own values in their places', async () => {
  let written = 0;
  const states = statement<{ tenantId: string; deliveryId: string }>()((place) => {
    written += 1;
    return tables
      .selectFrom('delivery')
      .select('state')
      .where('tenantId', '=', place('tenantId'))
      .where('deliveryId', '=', place('deliveryId'));
  }, 'states');
  const sent: unknown[][] = [];
  const sql = { query: (...given: unknown[]) => Promise.resolve(void sent.push(given) as never) };
  await states(sql, { tenantId: 'a', deliveryId: '1' });
  await states(sql, { deliveryId: '2', tenantId: 'b' });
  expect(written).toBe(1);
  expect(sent.map(([, values, name]) => [values, name])).toEqual([
    [['a', '1'], 'states'],
    [['b', '2'], 'states'],
  ]);
});

test('a statement that names a column which is not there, or takes a column for what its entity does not say, does not compile', () => {
  const deliveries = tables.selectFrom('delivery').where('tenantId', '=', 't');
  // @ts-expect-error a delivery has no such column
  expect(text(deliveries.select('sentAt'))).toContain('sent_at');
  // @ts-expect-error no table of this name
  expect(text(tables.selectFrom('deliveries').selectAll())).toContain('deliveries');
  // @ts-expect-error no state of a delivery
  expect(text(deliveries.select('state').where('state', '=', 'sent'))).toContain('state');
  // @ts-expect-error a delivery is due at all times
  expect(text(tables.updateTable('delivery').set({ dueAt: null }).where('tenantId', '=', 't'))).toContain('due_at');
});
