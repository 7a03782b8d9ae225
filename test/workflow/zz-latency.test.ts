import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Database, openDatabase } from '../../db/database.ts';
import { createEndpoint } from '../../services/webhooks/endpoints.ts';
import { insertCrossing, insertTenant } from '../support/ledger.ts';
import { createNamespace } from '../support/namespace.ts';
import { createDatabase } from '../support/parts.ts';
import { startReceiver } from '../support/receiver.ts';
import { startWebhookWorker } from '../support/webhook-worker.ts';

test('latency', async () => {
  const own = await createDatabase();
  const db = await openDatabase({ url: own.appUrl });
  const worker = await startWebhookWorker({ databaseUrl: own.appUrl, temporal: await createNamespace(), windowMs: 2000 });
  const receiver = await startReceiver();
  const tenantId = await insertTenant(db);
  await createEndpoint(worker, tenantId, { url: receiver.url });
  const lags: number[] = []; const fromEvent: number[] = [];
  for (let i = 0; i < 10; i++) {
    await insertCrossing(db, { tenantId, legs: [{ toAddress: '0xa', amountMicro: 1 }] });
    await receiver.until(i + 1);
    const body = JSON.parse(receiver.received[i]!.body);
    lags.push(Date.now() - body.data.window.toMs); fromEvent.push(Date.now() - body.createdAt);
  }
  console.log('window end → receiver', lags.join(' '), '| event → receiver', fromEvent.join(' '));
  // throughput: 500 endpoints × 10
  const N = 300, K = 10;
  const tenants: string[] = [];
  for (let i = 0; i < N / 10; i++) { const t = await insertTenant(db); for (let k = 0; k < 10; k++) await createEndpoint(worker, t, { url: receiver.url, hostFilter: ['none.example'] }); tenants.push(t); }
  const before = receiver.received.length;
  const t0 = performance.now();
  await db.query(`with ev as (insert into webhook_event (tenant_id, event_id, type, detailed, summary) select t, 'evt_' || gen_random_uuid(), 'settlement.completed', '{"x":"${'a'.repeat(500)}"}', '{}' from unnest($1::uuid[]) t, generate_series(1,$2) returning tenant_id, event_id)
    insert into delivery (tenant_id, delivery_id, event_id, endpoint_id, bucket) select ev.tenant_id, 'dlv_' || gen_random_uuid(), event_id, e.endpoint_id, get_byte(decode(right(e.endpoint_id::text, 2), 'hex'), 0) from ev join webhook_endpoint e using (tenant_id)`, [tenants, K]);
  await receiver.until(before + N * K);
  const ms = performance.now() - t0;
  { const { Pool } = await import('undici'); const pool = new Pool(new URL(receiver.url).origin, { connections: 32 }); const t = performance.now(); let left = 6000; await Promise.all(Array.from({ length: 64 }, async () => { while (left-- > 0) { const r = await pool.request({ path: '/hook', method: 'POST', body: 'x'.repeat(700) }); await r.body.dump(); } })); console.log('undici/s', Math.round(6000_000 / (performance.now() - t))); await pool.close(); }

  console.log('deliveries/s', Math.round((N * K * 1000) / ms));
  await new Promise((r) => setTimeout(r, 500));
  console.log(await db.query('select state, count(*) from delivery group by 1'));
  await receiver.stop(); await worker.stop(); await db.close(); await own.drop();
}, 120_000);
