/** Temporal is away when a receiver fails for the first time, and the worker may die with what it knows. */
import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { Client, Connection } from '@temporalio/client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Database } from '../../db/database.ts';
import { openDatabase } from '../../db/database.ts';
import { createEndpoint } from '../../modules/webhooks/use/endpoints.ts';
import { createOutbound } from '../../platform/outbound/outbound.ts';
import { createSecretBox } from '../../platform/tokens/secretBox.ts';
import { insertCrossing, insertTenant } from '../support/ledger.ts';
import { createNamespace } from '../support/namespace.ts';
import type { TestDatabase } from '../support/parts.ts';
import { createDatabase } from '../support/parts.ts';
import { scaled } from '../support/patience.ts';
import type { CutProxy } from '../support/proxy.ts';
import { startProxy } from '../support/proxy.ts';
import type { Receiver } from '../support/receiver.ts';
import { startReceiver } from '../support/receiver.ts';
import type { WebhookWorkerOptions } from '../support/webhook-worker.ts';
import { listDeliveries } from '../support/webhookLog.ts';

const LONG = { timeout: scaled(90_000), interval: 100 };
const secretBox = createSecretBox(Buffer.alloc(32, 7));
const outbound = createOutbound({ allowLoopback: true });

let own: TestDatabase;
let database: Database;
let temporal: CutProxy;
let connection: Connection;
let client: Client;
let options: WebhookWorkerOptions;
const receivers: Receiver[] = [];
const workers: ChildProcess[] = [];

beforeAll(async () => {
  own = await createDatabase();
  database = await openDatabase({ url: own.appUrl });
  const direct = await createNamespace();
  temporal = await startProxy(Number(new URL(`tcp://${direct.address}`).port));
  connection = await Connection.connect({ address: direct.address });
  client = new Client({ connection, namespace: direct.namespace });
  options = {
    databaseUrl: own.appUrl,
    temporal: { ...direct, address: `127.0.0.1:${temporal.port}` },
    windowMs: 300,
    limits: { requestTimeoutMs: 10_000, leaseMs: 20_000, passMs: 4_000, overdueMs: 1_000 },
  };
});
afterAll(async () => {
  for (const worker of workers) worker.kill('SIGKILL');
  await Promise.all(receivers.map((receiver) => receiver.stop()));
  await Promise.all([temporal.close(), connection.close(), outbound.close(), database.close()]);
  await own.drop();
});

function startWorker(): ChildProcess {
  const program = fileURLToPath(new URL('../support/webhook-worker.ts', import.meta.url));
  const worker = spawn(process.execPath, [program, JSON.stringify(options)], { stdio: 'ignore' });
  workers.push(worker);
  return worker;
}

test.each([
  ['goes on', false],
  ['is killed before it can start the workflow', true],
])(
  'a delivery that failed while Temporal was away, by a worker that %s, is made again when Temporal is back: same id, recorded once',
  async (_, isKilled) => {
    const receiver = await startReceiver();
    receivers.push(receiver);
    receiver.answer((response, count) => {
      if (count === 1) temporal.cut();
      response.statusCode = count === 1 ? 500 : 204;
      response.end();
    });
    const tenantId = await insertTenant(database);
    const { endpointId } = await createEndpoint({ database, secretBox, outbound }, tenantId, { url: receiver.url });
    const log = () => listDeliveries({ database }, tenantId, endpointId);
    const worker = startWorker();
    const ended = new Promise((resolve) => worker.once('exit', resolve));
    await insertCrossing(database, { tenantId, legs: [{ toAddress: '0xa', amountMicro: 1_000 }] });
    await receiver.until(1);
    await expect.poll(log, LONG).toMatchObject([{ state: 'pending', retrying: true, attempts: [{ attempt: 1, status: 500 }] }]);
    await expect(client.workflow.getHandle(`endpoint:${endpointId}`).describe()).rejects.toThrow(/not found/);
    const [waiting] = await log();
    if (isKilled) worker.kill('SIGKILL');
    else await new Promise((resolve) => setTimeout(resolve, 12_000)); // longer than a worker asks on
    temporal.mend();
    if (isKilled) {
      await ended;
      startWorker();
    }
    await expect
      .poll(log, LONG)
      .toMatchObject([{ state: 'delivered', attempts: [{ status: 500 }, { attempt: 2, status: 204 }] }]);
    const [delivered] = await log();
    expect(delivered?.attempts[1]?.startedAtMs).toBeGreaterThanOrEqual((waiting?.dueAtMs ?? 0) - 1);
    expect(receiver.received).toHaveLength(2);
    expect(new Set(receiver.received.map(({ headers }) => headers['svc-id'])).size).toBe(1);
    expect(await client.workflow.getHandle(`endpoint:${endpointId}`).result()).toBe('recovered');
    for (const one of workers.splice(0)) one.kill('SIGKILL');
  },
);
