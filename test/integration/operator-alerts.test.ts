import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { raiseAlert } from '../../db/alerts.ts';
import type { Database } from '../../db/database.ts';
import { openDatabase } from '../../db/database.ts';
import { readDatabaseGauges } from '../../modules/operations/store/gauges.ts';
import { resolveAlerts } from '../../modules/operations/store/operations.ts';
import { adoptCount, ensureRelayer } from '../../modules/settlement/store/relayer.ts';
import { raiseDisabledAlert } from '../../modules/webhooks/store/endpoints.ts';
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

const count = async (kind: string): Promise<number> =>
  (await database.query('select 1 from operator_alert where kind = $1', [kind])).length;

test('the same alert again within the hour is the one that is open; resolved, an hour old, of another tenant or detail it is a new one', async () => {
  const tenantId = randomUUID();
  const raise = (detail = 'a', tenant: string | null = tenantId) => raiseAlert(database, 'payee_blocked', detail, tenant);
  const first = await raise();
  expect(await raise()).toBe(first);
  const others = [await raise('b'), await raise('a', null), await raise('a', randomUUID())];
  expect(new Set([first, ...others]).size).toBe(4);
  await database.query("update operator_alert set raised_at = now() - interval '61 minutes' where alert_id = $1", [first]);
  const second = await raise();
  expect(second).not.toBe(first);
  await resolveAlerts(database, 'payee_blocked');
  expect([first, second]).not.toContain(await raise());
  expect(await count('payee_blocked')).toBe(6);
});

test('an endpoint that is disabled again within the hour for the same reason, and a relayer that is ahead, are told of by the same rule', async () => {
  const [tenantId, endpointId] = [randomUUID(), randomUUID()];
  for (let time = 0; time < 2; time++) await raiseDisabledAlert(database, tenantId, endpointId, 'the receiver answered 410');
  expect(await count('webhook_endpoint_disabled')).toBe(1);
  const relayer = { network: 'eip155:84532', address: `0x${'1'.repeat(40)}` };
  await ensureRelayer(database, relayer, 1n, 4);
  for (const nonce of [5n, 5n, 6n]) await adoptCount(database, relayer, nonce);
  expect(await count('relayer_nonce_adopted')).toBe(1);
});

test('a site whose gas budget is spent is shown by its host to Prometheus, today and until it is resolved, twenty sites at most', async () => {
  const spent = async (): Promise<unknown[]> => {
    const points = await readDatabaseGauges(database, []);
    return points.flatMap(({ name, value, labels }) => (name === 'svc.gas.budget_spent' ? [[labels?.['site'], value]] : []));
  };
  expect(await spent()).toEqual([['none', 0]]);
  const [named, nameless] = [randomUUID(), randomUUID()];
  const insert = "insert into tenant (tenant_id, status, price_usdc) values ($1, 'active', '0.001')";
  for (const tenantId of [named, nameless]) await database.query(insert, [tenantId]);
  await database.query("insert into tenant_host (tenant_id, host) values ($1, 'news.example'), ($1, 'www.news.example')", [
    named,
  ]);
  const raised = await raiseAlert(database, 'gas_budget_spent', 'a', named);
  await raiseAlert(database, 'gas_budget_spent', 'a', nameless);
  expect((await spent()).sort()).toEqual(
    [
      [nameless, 1],
      ['news.example', 1],
    ].sort(),
  );
  await database.query("update operator_alert set raised_at = raised_at - interval '1 day' where alert_id = $1", [raised]);
  expect(await spent()).toEqual([[nameless, 1]]);
  await resolveAlerts(database, 'gas_budget_spent');
  expect(await spent()).toEqual([['none', 0]]);
  for (let site = 0; site < 25; site += 1) await raiseAlert(database, 'gas_budget_spent', 'a', randomUUID());
  expect(await spent()).toHaveLength(20);
});
