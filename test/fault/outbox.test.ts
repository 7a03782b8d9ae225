/** The outbox of sales: what could not be announced stays there, and is announced once when it can be. */
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Database } from '../../db/database.ts';
import { openDatabase } from '../../db/database.ts';
import { closeDueWindows } from '../../modules/webhooks/use/closeWindows.ts';
import { insertCrossing, insertTenant } from '../support/ledger.ts';
import type { TestDatabase } from '../support/parts.ts';
import { createDatabase } from '../support/parts.ts';

const SPAN_MS = 60_000;

let own: TestDatabase;
let database: Database;
beforeAll(async () => {
  own = await createDatabase();
  database = await openDatabase({ url: own.appUrl, poolSize: 4 });
});
afterAll(async () => {
  await database.close();
  await own.drop();
});

test('an event that cannot be written keeps its legs in the outbox; written, it announces each of them once', async () => {
  const tenantId = await insertTenant(database);
  const legs = [{ toAddress: '0xa', amountMicro: 1_000, authorId: 'ann' }];
  for (let sale = 0; sale < 3; sale += 1) await insertCrossing(database, { tenantId, legs });
  const waiting = () => database.query('select 1 from unannounced_crossing where tenant_id = $1', [tenantId]);
  const events = () => database.query('select 1 from webhook_event where tenant_id = $1', [tenantId]);
  const owner = new pg.Client({ connectionString: own.ownerUrl });
  await owner.connect();
  await owner.query("update unannounced_crossing set recorded_at = date_trunc('hour', now()) - interval '1 hour'");
  await owner.query("alter table webhook_event add constraint refused check (type <> 'settlement.completed') not valid");
  await expect(closeDueWindows(database, SPAN_MS)).rejects.toThrow();
  expect([(await waiting()).length, (await events()).length]).toEqual([3, 0]);
  await owner.query('alter table webhook_event drop constraint refused');
  await owner.end();
  await Promise.all([closeDueWindows(database, SPAN_MS), closeDueWindows(database, SPAN_MS)]);
  expect([(await waiting()).length, (await events()).length]).toEqual([0, 1]);
  expect(await database.query('select 1 from webhook_event_leg where tenant_id = $1', [tenantId])).toHaveLength(3);
});
