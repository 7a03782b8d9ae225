/** What an owner or an operator does with a receiver that does not answer, seen in rows, at the receiver and in its workflow. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Database } from '../../db/database.ts';
import { openDatabase } from '../../db/database.ts';
import { siteKey } from '../../modules/kernel/workflow/attributes.ts';
import { operatorNamed } from '../../modules/tenants/use/change.ts';
import { createEndpoint, deleteEndpoint, updateEndpoint } from '../../modules/webhooks/use/endpoints.ts';
import type { RetryOrder } from '../../modules/webhooks/use/manageRetries.ts';
import { orderRetries } from '../../modules/webhooks/use/manageRetries.ts';
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

const LIMITS = { requestTimeoutMs: 10_000, leaseMs: 20_000, passMs: 4_000, overdueMs: 1_000 };
const LONG = { timeout: scaled(60_000), interval: 100 };

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

/** A receiver that answers 500 until it is repaired, its endpoint, and what may be done with it. */
async function subscribe() {
  const receiver = await startReceiver();
  receivers.push(receiver);
  const answer = { status: 500 };
  receiver.answer((response) => {
    response.statusCode = answer.status;
    response.end();
  });
  const tenantId = await insertTenant(database);
  const { endpointId } = await createEndpoint(worker, tenantId, { url: receiver.url });
  const workflow = worker.client.workflow.getHandle(`endpoint:${endpointId}`);
  const order = (wanted: RetryOrder, ofTenant = tenantId) =>
    orderRetries({ database }, { tenantId: ofTenant, actor: operatorNamed('test') }, endpointId, wanted);
  const status = () => workflow.query('status').catch(() => null);
  const log = () => listDeliveries({ database }, tenantId, endpointId);
  return { receiver, tenantId, endpointId, answer, workflow, order, status, log };
}

test('a receiver that is paused is sent nothing and uses no attempt, says so in its workflow, and gets what waits when it is resumed', async () => {
  const { receiver, tenantId, endpointId, answer, workflow, order, status, log } = await subscribe();
  await insertWaiting(database, tenantId, endpointId, 1);
  await expect.poll(status, LONG).toMatchObject({ state: 'retrying', deliveries: 1, 'last failure': 'status_500' });
  await order({ kind: 'pause', hours: 2 });
  await expect.poll(status, LONG).toMatchObject({ state: 'paused', deliveries: 1, next: null });
  const sent = receiver.received.length;
  const { typedSearchAttributes } = await workflow.describe();
  const found = Object.fromEntries(typedSearchAttributes.getAll().map(({ key, value }) => [key.name, value]));
  expect(found).toMatchObject({ EndpointId: endpointId, SiteIds: [siteKey(tenantId)], Outcome: 'paused' });
  await insertWaiting(database, tenantId, endpointId, 1);
  await database.query('update delivery set due_at = now() where endpoint_id = $1', [endpointId]);
  await workflow.signal('due', 0);
  await expect(order({ kind: 'skip' })).rejects.toMatchObject({ code: 'conflict' });
  await new Promise((resolve) => setTimeout(resolve, 3_000));
  expect(receiver.received).toHaveLength(sent);
  answer.status = 204;
  expect(await order({ kind: 'resume' })).toMatchObject({ pausedUntil: null });
  expect(await workflow.result()).toBe('recovered');
  await expect.poll(async () => (await log()).map(({ state }) => state), LONG).toEqual(['delivered', 'delivered']);
  expect((await log()).map(({ attempts }) => attempts.length).toSorted()).toEqual([1, sent + 1]);
  await saveHistory(worker.client, workflow.workflowId, 'retryDeliveries-paused');
});

/** Five deliveries whose fifth attempt is due in five hours, and the workflow that waits for it. */
async function waitForHours(given: Awaited<ReturnType<typeof subscribe>>): Promise<void> {
  const { tenantId, endpointId, workflow, status } = given;
  await insertWaiting(database, tenantId, endpointId, 5, { retrying: true, attempts: 4, body: '{}' });
  await database.query("update delivery set due_at = now() + interval '5 hours' where endpoint_id = $1", [endpointId]);
  await worker.client.workflow.signalWithStart('retryDeliveries', {
    taskQueue: options.temporal.taskQueue,
    workflowId: workflow.workflowId,
    args: [{ tenantId, endpointId, probes: 0 }],
    signal: 'due',
    signalArgs: [0],
  });
  await expect.poll(status, LONG).toMatchObject({ state: 'retrying', deliveries: 5, next: 'attempt 5' });
}

test.each([
  ['hears of it', false],
  ['is away when it is ordered', true],
])(
  'attempts that would wait for hours are made when their wait is skipped, by a worker that %s: each once',
  async (_, isAway) => {
    const given = await subscribe();
    const { receiver, answer, workflow, order, log } = given;
    answer.status = 204;
    await waitForHours(given);
    expect(receiver.received).toHaveLength(0);
    if (isAway) await worker.stop();
    expect(await order({ kind: 'skip' })).toMatchObject({ deliveries: 5 });
    if (isAway) worker = await startWebhookWorker(options);
    expect(await worker.client.workflow.getHandle(workflow.workflowId).result()).toBe('recovered');
    const made = (await log()).map(({ attempts }) => attempts.map(({ attempt }) => attempt));
    expect(made).toEqual(Array.from({ length: 5 }, () => [5]));
    expect(receiver.received).toHaveLength(5);
    expect(receiver.mostAtOnce).toBeLessThanOrEqual(2);
    expect((await order({ kind: 'skip' })).deliveries).toBe(0);
  },
);

test.each([
  ['disabled', (tenantId: string, endpointId: string) => updateEndpoint({ database }, tenantId, endpointId, { enabled: false })],
  ['deleted', (tenantId: string, endpointId: string) => deleteEndpoint({ database }, tenantId, endpointId)],
])('what waits at an endpoint that its owner %s fails then, not in hours, and nothing is sent', async (_, end) => {
  const given = await subscribe();
  const { receiver, tenantId, endpointId, workflow } = given;
  await waitForHours(given);
  await end(tenantId, endpointId);
  await expect.poll(async () => (await workflow.describe()).status.name, LONG).toBe('COMPLETED');
  expect(await workflow.result()).toBe('disabled');
  const rows = await database.query('select distinct state, reason from delivery where endpoint_id = $1', [endpointId]);
  expect(rows).toEqual([{ state: 'failed', reason: 'endpoint_disabled' }]);
  expect(receiver.received).toHaveLength(0);
});

test('the endpoint of another site is none, a pause has an end, and each order stands in the audit log of the site', async () => {
  const { tenantId, endpointId, order } = await subscribe();
  const other = await insertTenant(database);
  for (const kind of ['resume', 'skip'] as const)
    await expect(order({ kind }, other)).rejects.toMatchObject({ code: 'not_found' });
  await expect(order({ kind: 'pause', hours: 1 }, other)).rejects.toMatchObject({ code: 'not_found' });
  for (const hours of [0, -1, 1.5, 169, Number.NaN])
    await expect(order({ kind: 'pause', hours })).rejects.toMatchObject({ code: 'invalid_parameter' });
  const { pausedUntil } = await order({ kind: 'pause', hours: 168 });
  expect((pausedUntil ?? 0) - Date.now()).toBeLessThanOrEqual(168 * 3_600_000);
  await order({ kind: 'resume' });
  const entries = await database.query('select action from audit_log where tenant_id = $1 and target = $2 order by at', [
    tenantId,
    endpointId,
  ]);
  expect(entries).toMatchObject([{ action: 'endpoint.pause' }, { action: 'endpoint.resume' }]);
  await database.query("update webhook_endpoint set enabled = false, disabled_reason = 'owner' where endpoint_id = $1", [
    endpointId,
  ]);
  await expect(order({ kind: 'pause', hours: 1 })).rejects.toMatchObject({ code: 'conflict' });
});
