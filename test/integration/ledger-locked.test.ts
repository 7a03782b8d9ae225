import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Database } from '../../db/database.ts';
import { openDatabase } from '../../db/database.ts';
import { applyEvents } from '../../modules/settlement/store/applyEvents.ts';
import { insertTenant } from '../support/ledger.ts';
import type { TestDatabase } from '../support/parts.ts';
import { createDatabase } from '../support/parts.ts';
import { insertPurchases } from '../support/reports.ts';
import { query } from '../support/sql.ts';

let own: TestDatabase;
let database: Database;
beforeAll(async () => {
  own = await createDatabase();
  database = await openDatabase({ url: own.appUrl, poolSize: 2 });
});
afterAll(async () => {
  await database.close();
  await own.drop();
});

test('payments whose ledger is locked for longer than a statement may take are tried again, and none is called unwritable', async () => {
  const tenantId = await insertTenant(database);
  const legs = [{ toAddress: `0x${'1'.repeat(40)}`, amountMicro: 10 }];
  const purchase = { tenantId, host: 'alpha.example', slug: 'a', kind: 'read', atMs: Date.now(), steps: 1, legs } as const;
  const ids = await insertPurchases(
    database,
    Array.from({ length: 8 }, () => purchase),
  );
  await query(own.ownerUrl, `update test.payment set state = 'accepted', tx_hash = null, agent = '{"label":"other"}'`);
  const event = { type: 'refused', reason: 'settlement_failed' } as const;
  const occurrences = ids.map((paymentId) => ({ tenantId, paymentId, event }));
  const holder = await openDatabase({ url: own.superUrl, poolSize: 1 });
  const hasty = await openDatabase({ url: own.appUrl, poolSize: 2, statementTimeoutMs: 300 });
  try {
    await holder.transaction(async (sql) => {
      await sql.query('lock table observation_day in share row exclusive mode'); // as a rebuild of the rollups does
      await expect(applyEvents(hasty, occurrences)).rejects.toMatchObject({ code: '57014' });
    });
  } finally {
    await Promise.all([hasty.close(), holder.close()]);
  }
  expect(await database.query('select kind from operator_alert')).toEqual([]);
  const applied = await applyEvents(database, occurrences);
  expect([applied.changed.length, applied.poisoned.length]).toEqual([8, 0]);
});
