import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Database } from '../../db/database.ts';
import { openDatabase } from '../../db/database.ts';
import { createEndpoint } from '../../modules/webhooks/use/endpoints.ts';
import { saveHistory } from '../support/histories.ts';
import { insertCrossing, insertTenant } from '../support/ledger.ts';
import { createNamespace } from '../support/namespace.ts';
import type { TestDatabase } from '../support/parts.ts';
import { createDatabase } from '../support/parts.ts';
import type { Received, Receiver } from '../support/receiver.ts';
import { startReceiver } from '../support/receiver.ts';
import { insertWaiting } from '../support/waiting-deliveries.ts';
import type { WebhookWorker, WebhookWorkerOptions } from '../support/webhook-worker.ts';
import { startWebhookWorker } from '../support/webhook-worker.ts';
import { listDeliveries } from '../support/webhookLog.ts';

const WINDOW_MS = 300;
const LIMITS = { requestTimeoutMs: 4_000, leaseMs: 8_000, passMs: 4_000 };
const LEGS = [{ toAddress: '0xa', amountMicro: 1_000, authorId: 'ann' }];

let own: TestDatabase;
let database: Database;
let options: WebhookWorkerOptions;
let worker: WebhookWorker;
const receivers: Receiver[] = [];
const children: ChildProcess[] = [];

beforeAll(async () => {
  own = await createDatabase();
  database = await openDatabase({ url: own.appUrl });
  options = { databaseUrl: own.appUrl, temporal: await createNamespace(), windowMs: WINDOW_MS, limits: LIMITS };
  worker = await startWebhookWorker(options);
});
afterAll(async () => {
  await Promise.all(receivers.map((receiver) => receiver.stop()));
  for (const child of children) child.kill('SIGKILL');
  await worker.stop();
  await database.close();
  await own.drop();
});

async function subscribe(more: object = {}) {
  const receiver = await startReceiver();
  receivers.push(receiver);
  const tenantId = await insertTenant(database);
  const { endpointId, secret } = await createEndpoint(worker, tenantId, { url: receiver.url, ...more });
  const sell = () => insertCrossing(database, { tenantId, legs: LEGS });
  const log = () => listDeliveries({ database }, tenantId, endpointId);
  return { receiver, tenantId, endpointId, secret, sell, log };
}

/** Asks until `look` gives something; the test's own time limit bounds it. */
async function eventually<T>(look: () => Promise<T | undefined | false>): Promise<T> {
  for (;;) {
    const value = await look();
    if (value !== undefined && value !== false) return value;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Ends the workflow of an endpoint that fails; its schedule would go on for hours. */
async function endRetries(endpointId: string): Promise<void> {
  const handle = worker.client.workflow.getHandle(`endpoint:${endpointId}`);
  await eventually(async () => (await handle.describe().catch(() => undefined))?.status.name === 'RUNNING');
  await handle.terminate();
}

function verify({ headers, body }: Received, secret: string): void {
  const [, time, digest] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(String(headers['svc-signature'])) ?? [];
  expect(createHmac('sha256', Buffer.from(secret, 'utf8')).update(`${time}.${body}`).digest('hex')).toBe(digest);
  expect(Math.abs(Date.now() / 1_000 - Number(time))).toBeLessThan(300);
  const text = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`;
  const standard = createHmac('sha256', Buffer.from(secret.slice('whsec_'.length), 'base64'))
    .update(text)
    .digest('base64');
  expect(headers['webhook-signature']).toBe(`v1,${standard}`);
}

test('a settled payment is announced once, signed, to the endpoint, and the log shows the attempt', async () => {
  const { receiver, tenantId, secret, sell, log } = await subscribe();
  await sell();
  await receiver.until(1);
  const [delivery] = await eventually(async () => {
    const rows = await log();
    return rows[0]?.state === 'delivered' && rows;
  });
  const [received] = receiver.received;
  verify(received as Received, secret);
  const body = JSON.parse(received?.body ?? '');
  expect(body).toMatchObject({ id: delivery?.deliveryId, type: 'settlement.completed', eventId: delivery?.eventId });
  expect(body.data).toMatchObject({ tenant: tenantId, host: 'alpha.example', gross: { microUsdc: 1_000, usdc: '0.001000' } });
  expect(received?.headers['svc-id']).toBe(body.id);
  expect(received?.headers['svc-event']).toBe('settlement.completed');
  expect(delivery?.attempts).toMatchObject([{ attempt: 1, status: 200, reason: null, responseStart: 'ok' }]);
  expect(receiver.received).toHaveLength(1);
});

test('the summary profile says how many legs and nothing else', async () => {
  const { receiver, tenantId, sell } = await subscribe({ profile: 'summary' });
  await sell();
  await receiver.until(1);
  expect(JSON.parse(receiver.received[0]?.body ?? '').data).toEqual({ tenant: tenantId, announced: 1 });
});

test('a failed delivery is made again by the workflow of its endpoint: same id, same bytes, new signature', async () => {
  const { receiver, tenantId, endpointId, secret, sell, log } = await subscribe();
  receiver.answer((response, count) => {
    response.statusCode = count === 1 ? 500 : 204;
    response.end();
  });
  await sell();
  await receiver.until(1);
  await database.query("update webhook_endpoint set profile = 'summary' where tenant_id = $1", [tenantId]);
  const workflowId = `endpoint:${endpointId}`;
  const handle = worker.client.workflow.getHandle(workflowId);
  await eventually(async () => (await handle.describe().catch(() => undefined)) !== undefined);
  expect(await handle.result()).toBe('recovered');
  const [first, second] = receiver.received;
  expect(second?.body).toBe(first?.body);
  expect(second?.headers['svc-id']).toBe(first?.headers['svc-id']);
  expect(second?.headers['svc-signature']).not.toBe(first?.headers['svc-signature']);
  verify(second as Received, secret);
  const [delivery] = await log();
  expect(delivery?.attempts.map(({ attempt, status, reason }) => [attempt, status, reason])).toEqual([
    [1, 500, 'status_500'],
    [2, 204, null],
  ]);
  const [health] = await database.query('select failures_in_row from webhook_endpoint where endpoint_id = $1', [endpointId]);
  expect(health).toEqual({ failures_in_row: 0 });
  await saveHistory(worker.client, workflowId, 'retryDeliveries');
});

test('410 disables the endpoint, fails the delivery for good and raises an alert', async () => {
  const { receiver, tenantId, endpointId, sell, log } = await subscribe();
  receiver.answer((response) => {
    response.statusCode = 410;
    response.end();
  });
  await sell();
  const [delivery] = await eventually(async () => {
    const rows = await log();
    return rows[0]?.state === 'failed' && rows;
  });
  expect(delivery).toMatchObject({ reason: 'status_410', retrying: false });
  const [endpoint] = await database.query('select enabled, disabled_reason from webhook_endpoint where endpoint_id = $1', [
    endpointId,
  ]);
  expect(endpoint).toEqual({ enabled: false, disabled_reason: 'gone' });
  expect(await database.query('select kind from operator_alert where tenant_id = $1', [tenantId])).toEqual([
    { kind: 'webhook_endpoint_disabled' },
  ]);
});

test('a redirect is a failed attempt, and Retry-After of a 429 is the floor of the next one', async () => {
  const redirecting = await subscribe();
  redirecting.receiver.answer((response) => {
    response.writeHead(302, { location: 'http://169.254.169.254/' });
    response.end();
  });
  const throttling = await subscribe();
  throttling.receiver.answer((response) => {
    response.writeHead(429, { 'retry-after': '3600' });
    response.end();
  });
  await redirecting.sell();
  await throttling.sell();
  for (const [{ log }, reason, leastMs] of [
    [redirecting, 'redirect', 4_000],
    [throttling, 'status_429', 3_590_000],
  ] as const) {
    const [delivery] = await eventually(async () => {
      const rows = await log();
      return rows[0]?.retrying === true && rows;
    });
    expect(delivery).toMatchObject({ state: 'pending', reason });
    const attempt = delivery?.attempts[0];
    expect((delivery?.dueAtMs ?? 0) - (attempt?.startedAtMs ?? 0)).toBeGreaterThan(leastMs);
    const handle = worker.client.workflow.getHandle(`endpoint:${delivery?.endpointId}`);
    await eventually(async () => (await handle.describe().catch(() => undefined))?.status.name === 'RUNNING');
    await handle.terminate();
  }
});

test('a hanging receiver has at most two requests in flight, ends each with timeout, and delays nobody else', async () => {
  const hanging = await subscribe();
  hanging.receiver.answer(() => {});
  const quick = await subscribe();
  await insertWaiting(database, hanging.tenantId, hanging.endpointId, 5);
  await hanging.receiver.until(2);
  await quick.sell();
  await quick.receiver.until(1);
  const rows = await eventually(async () => {
    const all = await hanging.log();
    return all.every(({ retrying }) => retrying) && all;
  });
  expect(rows).toHaveLength(5);
  expect(new Set(rows.map(({ reason }) => reason))).toEqual(new Set(['timeout']));
  expect(hanging.receiver.mostAtOnce).toBeLessThanOrEqual(2);
  await endRetries(hanging.endpointId);
});

test('after ten failures in a row an endpoint cools, and its waiting deliveries use no attempt', async () => {
  const { receiver, tenantId, endpointId, log } = await subscribe();
  receiver.answer((response) => {
    response.statusCode = 500;
    response.end();
  });
  await insertWaiting(database, tenantId, endpointId, 30);
  await eventually(async () => {
    const [row] = await database.query('select 1 from webhook_endpoint where endpoint_id = $1 and cooled_until is not null', [
      endpointId,
    ]);
    return row;
  });
  const rows = await eventually(async () => {
    const all = await log();
    const inFlight = await database.query('select 1 from endpoint_lease where endpoint_id = $1 and lease_id is not null', [
      endpointId,
    ]);
    return inFlight.length === 0 && all;
  });
  const waiting = rows.filter(({ retrying }) => !retrying);
  expect(waiting.length).toBeGreaterThan(0);
  expect(waiting.every(({ attempts, state }) => attempts.length === 0 && state === 'pending')).toBe(true);
  await endRetries(endpointId);
});

test('an endpoint whose workflow is missing gets one again', async () => {
  const { receiver, tenantId, endpointId, log } = await subscribe();
  const [deliveryId] = await insertWaiting(database, tenantId, endpointId, 1, {
    retrying: true,
    attempts: 1,
    body: '{"frozen":true}',
  });
  await worker.stop();
  worker = await startWebhookWorker({ ...options, limits: { ...LIMITS, overdueMs: 1 } });
  await receiver.until(1);
  const rows = await eventually(async () => {
    const all = await log();
    return all[0]?.state === 'delivered' && all;
  });
  expect(receiver.received[0]?.body).toBe('{"frozen":true}');
  expect(rows[0]).toMatchObject({ deliveryId, attempts: [{ attempt: 2 }] });
  expect(await worker.client.workflow.getHandle(`endpoint:${endpointId}`).result()).toBe('recovered');
});

test.each([1, 2])(
  'a worker killed between POST and record of attempt %i: delivered again with the same id, event and bytes, recorded once',
  async (fatal) => {
    const { receiver, endpointId, sell, log } = await subscribe();
    await worker.stop();
    receiver.answer((response, count) => {
      if (count === fatal) return void children.at(-1)?.kill('SIGKILL');
      response.statusCode = count < fatal ? 500 : 200;
      response.end('ok');
    });
    const child = spawnWorker();
    children.push(child);
    const ended = new Promise((resolve) => child.once('exit', resolve));
    await sell();
    await receiver.until(fatal);
    await ended;
    worker = await startWebhookWorker(options);
    const rows = await eventually(async () => {
      const all = await log();
      return all[0]?.state === 'delivered' && all;
    });
    expect(receiver.received).toHaveLength(fatal + 1);
    expect(new Set(receiver.received.map(({ headers }) => headers['svc-id'])).size).toBe(1);
    expect(new Set(receiver.received.map(({ body }) => body)).size).toBe(1);
    expect(rows).toHaveLength(1);
    expect(rows[0]?.attempts.map(({ status }) => status)).toEqual([...Array.from({ length: fatal - 1 }, () => 500), 200]);
    if (fatal > 1) expect(await worker.client.workflow.getHandle(`endpoint:${endpointId}`).result()).toBe('recovered');
    await saveHistory(worker.client, 'dispatchWebhooks:0', 'dispatchWebhooks', await firstRun('dispatchWebhooks:0'));
  },
);

async function firstRun(workflowId: string): Promise<string | undefined> {
  const description = await worker.client.workflow.getHandle(workflowId).describe();
  return description.raw.workflowExecutionInfo?.firstRunId ?? undefined;
}

function spawnWorker(): ChildProcess {
  const program = fileURLToPath(new URL('../support/webhook-worker.ts', import.meta.url));
  return spawn(process.execPath, [program, JSON.stringify(options)], { stdio: ['ignore', 'ignore', 'inherit'] });
}
