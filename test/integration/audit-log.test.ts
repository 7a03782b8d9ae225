import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Database } from '../../db/database.ts';
import { openDatabase } from '../../db/database.ts';
import { ServiceError } from '../../modules/kernel/errors.ts';
import { changeAsOperator } from '../../modules/operations/use/change.ts';
import { insertAuditEntry } from '../../modules/tenants/store/auditLog.ts';
import type { SiteCall } from '../../modules/tenants/use/change.ts';
import { changeSite, operatorNamed } from '../../modules/tenants/use/change.ts';
import { createTenant } from '../../modules/tenants/use/tenants.ts';
import { listAuditEntries } from '../support/auditEntries.ts';
import type { TestDatabase } from '../support/parts.ts';
import { createDatabase } from '../support/parts.ts';

let urls: TestDatabase;
let database: Database;
let call: SiteCall;
beforeAll(async () => {
  urls = await createDatabase();
  database = await openDatabase({ url: urls.appUrl });
  const { tenantId } = await createTenant({ database }, { hosts: ['log.example'], pricing: { priceUsdc: '0.01' } });
  call = { tenantId, actor: { userId: 'ada', via: 'oidc' } };
});
afterAll(async () => {
  await database.close();
  await urls.drop();
});

const entries = () => listAuditEntries(database, call.tenantId);
const note = (action: string, target: string | null = null) =>
  insertAuditEntry(database, { ...call, action, target, before: null, after: { done: true } });

test("the service's role can add and read entries, and neither change, remove nor antedate one", async () => {
  await note('test.added');
  const client = new pg.Client({ connectionString: urls.appUrl });
  await client.connect();
  for (const statement of [
    "update audit_log set action = 'test.forged'",
    'delete from audit_log',
    'truncate audit_log',
    'drop table audit_log',
    'alter table audit_log add column forged text',
    `insert into audit_log (tenant_id, entry_id, at, actor_id, actor_via, action)
       values ('${call.tenantId}', gen_random_uuid(), '2000-01-01', 'eve', 'oidc', 'test.antedated')`,
    `insert into audit_log (tenant_id, entry_id, actor_id, actor_via, action)
       select tenant_id, entry_id, 'eve', 'oidc', 'test.replaced' from audit_log
       on conflict (tenant_id, entry_id) do update set action = excluded.action`,
  ]) {
    await expect(client.query(statement), statement).rejects.toMatchObject({ code: '42501' });
  }
  await client.end();
  expect(await entries()).toMatchObject([{ action: 'test.added', actor: { userId: 'ada', via: 'oidc' }, after: { done: true } }]);
});

test("the operators' own log, too, is only read and added to", async () => {
  await changeAsOperator({ database }, operatorNamed('ops'), {
    action: 'test.operated',
    target: null,
    look: async () => null,
    make: async () => undefined,
  });
  const client = new pg.Client({ connectionString: urls.appUrl });
  await client.connect();
  for (const statement of [
    "update operator_audit_log set action = 'test.forged'",
    'delete from operator_audit_log',
    'truncate operator_audit_log',
    `insert into operator_audit_log (entry_id, at, actor_id, action) values (gen_random_uuid(), '2000-01-01', 'eve', 'test.antedated')`,
  ]) {
    await expect(client.query(statement), statement).rejects.toMatchObject({ code: '42501' });
  }
  await client.end();
});

test('a change that fails leaves no entry, and an entry that cannot be written takes its change back', async () => {
  const before = (await entries()).length;
  const look = async (): Promise<null> => null;
  const touch = `update tenant set origin_url = 'https://touched.example' where tenant_id = $1`;
  const failing = changeSite({ database }, call, {
    action: 'test.breaks',
    target: null,
    look,
    make: async (sql) => {
      await sql.query(touch, [call.tenantId]);
      throw new ServiceError('conflict', 'not now');
    },
  });
  await expect(failing).rejects.toMatchObject({ code: 'conflict' });
  const unloggable = changeSite({ database }, call, {
    action: 'no action of ours',
    target: null,
    look,
    make: (sql) => sql.query(touch, [call.tenantId]),
  });
  await expect(unloggable).rejects.toThrow(/audit_log/);
  expect(await entries()).toHaveLength(before);
  expect(await database.query('select origin_url from tenant where tenant_id = $1', [call.tenantId])).toEqual([
    { origin_url: null },
  ]);
});

test('changes of one site come one after the other: each entry begins where the one before ended', async () => {
  const read = async (sql: Pick<Database, 'query'>): Promise<object> =>
    (await sql.query<{ version: number }>('select version from tenant where tenant_id = $1', [call.tenantId]))[0] ?? {};
  const bump = () =>
    changeSite({ database }, call, {
      action: 'test.bump',
      target: null,
      look: read,
      make: async (sql) => {
        const { version } = (await read(sql as Database)) as { version: number };
        await sql.query('update tenant set version = $2 where tenant_id = $1', [call.tenantId, version + 1]);
      },
    });
  await Promise.all(Array.from({ length: 8 }, bump));
  const bumps = (await entries())
    .filter(({ action }) => action === 'test.bump')
    .map(({ before, after }) => [(before as { version: number }).version, (after as { version: number }).version]);
  const ordered = bumps.toSorted(([a = 0], [b = 0]) => a - b);
  expect(ordered).toHaveLength(8);
  ordered.forEach(([from, to], index) => {
    expect(to).toBe((from ?? 0) + 1);
    if (index > 0) expect(from).toBe(ordered[index - 1]?.[1]);
  });
});
