import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Database } from '../../db/database.ts';
import { openDatabase } from '../../db/database.ts';
import { createRule } from '../../modules/anomalies/use/rules.ts';
import { startAnomalySweep } from '../../modules/anomalies/use/start.ts';
import { createEndpoint } from '../../modules/webhooks/use/endpoints.ts';
import { saveHistory } from '../support/histories.ts';
import { insertTenant } from '../support/ledger.ts';
import { createNamespace } from '../support/namespace.ts';
import type { TestDatabase } from '../support/parts.ts';
import { createDatabase } from '../support/parts.ts';
import { startReceiver } from '../support/receiver.ts';
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
  const sweep = { taskQueue: options.temporal.taskQueue, intervalMs: 100 };
  await startAnomalySweep(worker.client, sweep);
  await startAnomalySweep(worker.client, sweep);
  await receiver.until(1);
  const handle = worker.client.workflow.getHandle('sweepAnomalies');
  for (let timers = 0; timers < 4; ) {
    const { events } = await handle.fetchHistory();
    timers = events?.filter(({ timerFiredEventAttributes }) => timerFiredEventAttributes).length ?? 0;
  }
  const body = JSON.parse(receiver.received[0]?.body ?? '');
  expect(body).toMatchObject({ type: 'anomaly.detected', data: { metric: 'denied', rangeKey: '1h', threshold: 1 } });
  expect(body.data.detail).toBe('Denied requests in the last hour: 1. The threshold is 1.');
  expect(receiver.received).toHaveLength(1);
  await saveHistory(worker.client, 'sweepAnomalies');
  await handle.terminate();
  await receiver.stop();
});

test('a sweep that runs takes over the interval of a worker that starts later, at once and for its next run', async () => {
  const { taskQueue } = options.temporal;
  await startAnomalySweep(worker.client, { taskQueue, intervalMs: 3_600_000 });
  const handle = worker.client.workflow.getHandle('sweepAnomalies');
  const timers = async (): Promise<number[]> => {
    const { events } = await handle.fetchHistory();
    return (events ?? []).flatMap(({ timerStartedEventAttributes: timer }) =>
      timer ? [1_000 * Number(timer.startToFireTimeout?.seconds ?? 0) + Number(timer.startToFireTimeout?.nanos ?? 0) / 1e6] : [],
    );
  };
  await expect.poll(timers).toEqual([3_600_000]);
  await startAnomalySweep(worker.client, { taskQueue, intervalMs: 200 });
  await expect.poll(async () => (await timers()).slice(0, 3)).toEqual([3_600_000, 200, 200]);
  await saveHistory(worker.client, 'sweepAnomalies', 'sweepAnomalies-interval');
  await handle.terminate();
});
