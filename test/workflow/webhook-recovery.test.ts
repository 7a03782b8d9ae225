import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Database } from '../../db/database.ts';
import { openDatabase } from '../../db/database.ts';
import { createEndpoint } from '../../modules/webhooks/use/endpoints.ts';
import { saveHistory } from '../support/histories.ts';
import { insertTenant } from '../support/ledger.ts';
import { createNamespace } from '../support/namespace.ts';
import type { TestDatabase } from '../support/parts.ts';
import { createDatabase } from '../support/parts.ts';
import { scaled } from '../support/patience.ts';
import type { Receiver } from '../support/receiver.ts';
import { startReceiver } from '../support/receiver.ts';
import { insertWaiting } from '../support/waiting-deliveries.ts';
import type { WebhookWorker, WebhookWorkerOptions } from '../support/webhook-worker.ts';
import { startWebhookWorker } from '../support/webhook-worker.ts';
import { listDeliveries } from '../support/webhookLog.ts';

const LIMITS = { requestTimeoutMs: 10_000, leaseMs: 20_000, passMs: 4_000, probeMs: 300, probeMostMs: 600 };

let own: TestDatabase;
let database: Database;
let options: WebhookWorkerOptions;
let worker: WebhookWorker;
const receivers: Receiver[] = [];

beforeAll(async () => {
  own = await createDatabase();
  database = await openDatabase({ url: own.appUrl });
  options = { databaseUrl: own.appUrl, temporal: await createNamespace(), windowMs: 300, limits: LIMITS };
  worker = await startWebhookWorker(options);
});
afterAll(async () => {
  await Promise.all(receivers.map((receiver) => receiver.stop()));
  await worker.stop();
  await database.close();
  await own.drop();
});

/** A receiver that answers `status` until it is changed, its endpoint and what its tenant's log says. */
async function subscribe(first: number) {
  const receiver = await startReceiver();
  receivers.push(receiver);
  const tenantId = await insertTenant(database);
  const { endpointId } = await createEndpoint(worker, tenantId, { url: receiver.url });
  const answer = { status: first };
  receiver.answer((response) => {
    response.statusCode = answer.status;
    response.end();
  });
  const recovery = worker.client.workflow.getHandle(`endpoint:${endpointId}`);
  const log = () => listDeliveries({ database }, tenantId, endpointId);
  return { receiver, tenantId, endpointId, answer, recovery, log };
}

const endpointRow = async (endpointId: string) =>
  (
    await database.query<{ cools: boolean; failures: number; enabled: boolean; reason: string | null }>(
      `select cooled_until is not null as cools, failures_in_row as failures, enabled, disabled_reason as reason from webhook_endpoint
       where endpoint_id = $1`,
      [endpointId],
    )
  )[0];

const poll = { timeout: scaled(60_000) };

/** Makes the retries of an endpoint due in an hour, so that nothing but a probe may end its cooling. */
const postponeRetries = (endpointId: string) =>
  database.query("update delivery set due_at = now() + interval '1 hour' where endpoint_id = $1 and retrying", [endpointId]);

/** Makes the retries of an endpoint due now, and says so to its workflow. */
async function retryNow(endpointId: string): Promise<void> {
  await database.query('update delivery set due_at = now() where endpoint_id = $1 and retrying', [endpointId]);
  await worker.client.workflow.getHandle(`endpoint:${endpointId}`).signal('due', 0);
}

test('a cooling endpoint is probed with its oldest waiting delivery, one at a time, and the rest goes out when that succeeds', async () => {
  const { receiver, tenantId, endpointId, answer, recovery, log } = await subscribe(500);
  const ids = (await insertWaiting(database, tenantId, endpointId, 30)).sort();
  await expect.poll(async () => (await endpointRow(endpointId))?.cools, poll).toBe(true);
  await expect.poll(async () => (await recovery.describe().catch(() => undefined))?.status.name, poll).toBe('RUNNING');
  const untilProbed = async (count: number) => {
    const before = receiver.received.length;
    await expect.poll(() => receiver.received.length - before, poll).toBeGreaterThanOrEqual(count);
  };
  await untilProbed(2);
  const waiting = (await log()).filter(({ attempts }) => attempts.length === 0);
  expect(waiting.length).toBeGreaterThan(10);
  await postponeRetries(endpointId); // one that is due now would end the cooling before the probe
  answer.status = 200;
  await expect
    .poll(async () => (await log()).filter(({ retrying }) => !retrying).every(({ state }) => state === 'delivered'), poll)
    .toBe(true);
  const failed = (await log()).filter(({ attempts }) => attempts.some(({ attempt, status }) => attempt === 1 && status === 500));
  const tried = failed.map(({ deliveryId }) => deliveryId).sort();
  expect(tried).toEqual(ids.slice(0, tried.length)); // the oldest ones and no other
  const untried = ids.slice(tried.length);
  expect(await endpointRow(endpointId)).toMatchObject({ cools: false, failures: 0, enabled: true });
  // every delivery had its first attempt exactly once
  for (const { deliveryId, attempts } of await log()) {
    expect(
      attempts.filter(({ attempt }) => attempt === 1),
      deliveryId,
    ).toHaveLength(1);
  }
  const firsts = Map.groupBy(receiver.received, ({ headers }) => String(headers['svc-id']));
  for (const id of untried) expect(firsts.get(id), id).toHaveLength(1);
  await retryNow(endpointId);
  expect(await recovery.result()).toBe('recovered');
  expect((await log()).every(({ state }) => state === 'delivered')).toBe(true);
  await saveHistory(worker.client, `endpoint:${endpointId}`, 'retryDeliveries-cooled');
});

test('410 to a probe disables the endpoint, and what waits, for its first attempt or a later one, fails at once', async () => {
  const { tenantId, endpointId, answer, recovery, log } = await subscribe(500);
  await insertWaiting(database, tenantId, endpointId, 25);
  await expect.poll(async () => (await endpointRow(endpointId))?.cools, poll).toBe(true);
  answer.status = 410;
  // Its row says that it cools a moment before the workflow is started.
  await expect.poll(async () => (await recovery.describe().catch(() => undefined)) !== undefined, poll).toBe(true);
  expect(await recovery.result()).toBe('disabled');
  await expect.poll(async () => (await log()).filter(({ state }) => state === 'pending').length, poll).toBe(0);
  // An attempt that was on its way may be one more failure, and begin another recovery that ends at once.
  await expect
    .poll(async () => await endpointRow(endpointId), poll)
    .toMatchObject({ cools: false, enabled: false, reason: 'gone' });
  expect((await log()).some(({ reason }) => reason === 'endpoint_disabled')).toBe(true);
  await saveHistory(worker.client, `endpoint:${endpointId}`, 'retryDeliveries-disabled');
});

test('a recovery that was lost is started again, and with nothing to probe with the endpoint is let go', async () => {
  const { endpointId } = await subscribe(200);
  await database.query(
    "update webhook_endpoint set failures_in_row = 10, cooled_until = now() - interval '1 hour' where endpoint_id = $1",
    [endpointId],
  );
  await worker.stop();
  worker = await startWebhookWorker({ ...options, limits: { ...LIMITS, overdueMs: 1 } });
  const recovery = worker.client.workflow.getHandle(`endpoint:${endpointId}`);
  await expect.poll(async () => (await recovery.describe().catch(() => undefined))?.status.name, poll).toBe('COMPLETED');
  expect(await recovery.result()).toBe('nothing_waits');
  expect(await endpointRow(endpointId)).toMatchObject({ cools: false, failures: 10 });
});
