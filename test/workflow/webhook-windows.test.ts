import { afterAll, beforeAll, expect, test } from 'vitest';
import { createEndpoint } from '../../modules/webhooks/use/endpoints.ts';
import { saveHistory } from '../support/histories.ts';
import { insertCrossing, insertTenant } from '../support/ledger.ts';
import { createNamespace } from '../support/namespace.ts';
import type { TestDatabase } from '../support/parts.ts';
import { createDatabase } from '../support/parts.ts';
import type { Receiver } from '../support/receiver.ts';
import { startReceiver } from '../support/receiver.ts';
import { lastRunOf } from '../support/scheduled.ts';
import type { WebhookWorker } from '../support/webhook-worker.ts';
import { startWebhookWorker } from '../support/webhook-worker.ts';

const WINDOW_MS = 3_500;
let own: TestDatabase;
let worker: WebhookWorker;
let receiver: Receiver;

beforeAll(async () => {
  own = await createDatabase();
  receiver = await startReceiver();
  worker = await startWebhookWorker({ databaseUrl: own.appUrl, temporal: await createNamespace(), windowMs: WINDOW_MS });
});
afterAll(async () => {
  await worker.stop();
  await receiver.stop();
  await own.drop();
});

test('sales of one window are one event, the next window is another one, and the workflow sleeps in between', async () => {
  const tenantId = await insertTenant(worker.database);
  await createEndpoint(worker, tenantId, { url: receiver.url });
  // One commit: sales that come one by one may lie on both sides of a window's end.
  const sell = (...amountsMicro: number[]) =>
    worker.database.transaction(async (sql) => {
      for (const amountMicro of amountsMicro) {
        await insertCrossing(sql, { tenantId, kind: 'citation', legs: [{ toAddress: '0xa', amountMicro }] });
      }
    });
  await sell(1, 20, 300);
  await receiver.until(1);
  await sell(4_000);
  await receiver.until(2);
  const [first, second] = receiver.received.map(({ body }) => JSON.parse(body));
  expect(first.data).toMatchObject({ gross: { microUsdc: 321 }, citations: { settled: 3 }, window: { spanMs: WINDOW_MS } });
  expect(second.data).toMatchObject({ gross: { microUsdc: 4_000 }, citations: { settled: 1 } });
  expect(second.eventId).not.toBe(first.eventId);
  expect(second.data.window.toMs - first.data.window.toMs).toBeGreaterThanOrEqual(WINDOW_MS);
  expect(first.createdAt).toBeGreaterThanOrEqual(first.data.window.toMs);
  const { workflowId = '' } = (await lastRunOf(worker.client, 'closeEventWindows')) ?? {};
  const { events } = await worker.client.workflow.getHandle(workflowId).fetchHistory();
  expect(events?.some((event) => event.timerFiredEventAttributes != null)).toBe(true);
  await saveHistory(worker.client, workflowId, 'closeEventWindows');
});
