import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Database } from '../../db/database.ts';
import { openDatabase } from '../../db/database.ts';
import { createRule } from '../../modules/anomalies/use/rules.ts';
import { scheduleAnomalySweep } from '../../modules/anomalies/use/schedule.ts';
import { createEndpoint } from '../../modules/webhooks/use/endpoints.ts';
import { saveHistory } from '../support/histories.ts';
import { insertTenant } from '../support/ledger.ts';
import { createNamespace } from '../support/namespace.ts';
import type { TestDatabase } from '../support/parts.ts';
import { createDatabase } from '../support/parts.ts';
import { startReceiver } from '../support/receiver.ts';
import { runsOf } from '../support/scheduled.ts';
import type { WebhookWorker, WebhookWorkerOptions } from '../support/webhook-worker.ts';
import { startWebhookWorker } from '../support/webhook-worker.ts';

let own: TestDatabase;
let database: Database;
let options: WebhookWorkerOptions;
let worker: WebhookWorker;

beforeAll(async () => {
  own = await createDatabase();
  database = await openDatabase({ url: own.appUrl });
  options = { databaseUrl: own.appUrl, temporal: await createNamespace(), windowMs: 300, limits: { passMs: 4_000 } };
  worker = await startWebhookWorker(options);
});
afterAll(async () => {
  await worker.stop();
  await database.close();
  await own.drop();
});

test('a breached threshold reaches the endpoint once, however often the running sweep looks', async () => {
  const receiver = await startReceiver();
  const tenantId = await insertTenant(database);
  await createEndpoint(worker, tenantId, { url: receiver.url, eventTypes: ['anomaly.detected'] });
  await createRule({ database }, tenantId, { metric: 'denied', rangeKey: '1h', threshold: 1 });
  await database.query(
    `insert into observation (tenant_id, observation_id, host, slug, verdict, classified_as, agent, at)
     values ($1, $2, 'alpha.example', 'solo', 'denied', 'agent', 'other', clock_timestamp())`,
    [tenantId, randomUUID()],
  );
  const sweep = { taskQueue: options.temporal.taskQueue, intervalMs: 1_000 };
  await scheduleAnomalySweep(worker.client, sweep);
  await scheduleAnomalySweep(worker.client, sweep);
  await receiver.until(1);
  const finished = async () => (await runsOf(worker.client, 'sweepAnomalies', "ExecutionStatus = 'Completed'")).length;
  await expect.poll(finished).toBeGreaterThan(2);
  const body = JSON.parse(receiver.received[0]?.body ?? '');
  expect(body).toMatchObject({ type: 'anomaly.detected', data: { metric: 'denied', rangeKey: '1h', threshold: 1 } });
  expect(body.data.detail).toBe('Denied requests in the last hour: 1. The threshold is 1.');
  expect(receiver.received).toHaveLength(1);
  const first = (await runsOf(worker.client, 'sweepAnomalies')).at(-1)?.workflowId ?? '';
  expect(await worker.client.workflow.getHandle(first).result()).toEqual({ rules: 1, events: 1, failures: 0 });
  await saveHistory(worker.client, first, 'sweepAnomalies');
  await worker.client.schedule.getHandle('sweepAnomalies').delete();
  await receiver.stop();
});
