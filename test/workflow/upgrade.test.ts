/** A worker of another version takes over while workflows are open: what their new code makes of the old histories. */
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Database } from '../../db/database.ts';
import { openDatabase } from '../../db/database.ts';
import { createEndpoint } from '../../modules/webhooks/use/endpoints.ts';
import { openWorkflowBundle } from '../../process/workflowBundle.ts';
import { insertCrossing, insertTenant } from '../support/ledger.ts';
import { createNamespace } from '../support/namespace.ts';
import type { TestDatabase } from '../support/parts.ts';
import { createDatabase } from '../support/parts.ts';
import { scaled } from '../support/patience.ts';
import { startReceiver } from '../support/receiver.ts';
import { runsOf } from '../support/scheduled.ts';
import type { WebhookWorker, WebhookWorkerOptions } from '../support/webhook-worker.ts';
import { startWebhookWorker } from '../support/webhook-worker.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const LONG = { timeout: scaled(60_000), interval: 200 };

let own: TestDatabase;
let database: Database;
let options: WebhookWorkerOptions;
let folder: string;
const workers: WebhookWorker[] = [];

beforeAll(async () => {
  own = await createDatabase();
  database = await openDatabase({ url: own.appUrl });
  options = { databaseUrl: own.appUrl, temporal: await createNamespace(), windowMs: 3_000 };
  mkdirSync(join(ROOT, '.test'), { recursive: true });
  folder = mkdtempSync(join(ROOT, '.test', 'upgrade-'));
});
afterAll(async () => {
  await Promise.all(workers.map((worker) => worker.stop()));
  await database.close();
  await own.drop();
  rmSync(folder, { recursive: true, force: true });
});

/** The workflows of a version whose code begins with another command, without a patch. */
function bundleOfNext(): ReturnType<typeof openWorkflowBundle> {
  const root = join(folder, 'next');
  for (const name of ['workflows', 'modules']) cpSync(join(ROOT, name), join(root, name), { recursive: true });
  edit(join(root, 'workflows', 'closeEventWindows.ts'), 'const endsAt =', 'await sleep(1);\n  const endsAt =');
  edit(
    join(root, 'workflows', 'retryDeliveries.ts'),
    'let { probes } = start;',
    'await retryDue(start);\n  let { probes } = start;',
  );
  return openWorkflowBundle(false, { root, folder: join(folder, 'cache') });
}

function edit(file: string, search: string, replace: string): void {
  const text = readFileSync(file, 'utf8');
  expect(text.split(search)).toHaveLength(2);
  writeFileSync(file, text.replace(search, replace));
}

async function start(bundle?: ReturnType<typeof openWorkflowBundle>): Promise<WebhookWorker> {
  const worker = await startWebhookWorker(options, await bundle);
  workers.push(worker);
  return worker;
}

test('a scheduled run that the next version cannot replay fails and begins again on its code; a delivery waits for code that can, and loses nothing', async () => {
  const receiver = await startReceiver();
  receiver.answer((response, count) => {
    response.statusCode = count === 1 ? 500 : 204;
    response.end();
  });
  const first = await start();
  const tenantId = await insertTenant(database);
  const { endpointId } = await createEndpoint(first, tenantId, { url: receiver.url });
  await insertCrossing(database, { tenantId, legs: [{ toAddress: '0xa', amountMicro: 1 }] });
  await receiver.until(1);
  const { client } = first;
  const delivery = client.workflow.getHandle(`endpoint:${endpointId}`);
  const retries = () =>
    delivery.describe().then(
      ({ status }) => status.name,
      () => null,
    );
  await expect.poll(retries, LONG).toBe('RUNNING');
  const windows = (status: string) => runsOf(client, 'closeEventWindows', `ExecutionStatus = '${status}'`);
  await expect.poll(async () => (await windows('Running')).length, LONG).toBe(1);
  const [open] = await windows('Running');
  await first.stop();

  const next = await start(bundleOfNext());
  const fails = async () =>
    (await runsOf(next.client, 'closeEventWindows', "ExecutionStatus = 'Failed'")).map(({ runId }) => runId);
  await expect.poll(fails, LONG).toEqual([open?.runId]);
  const begun = async () =>
    (await runsOf(next.client, 'closeEventWindows', "ExecutionStatus = 'Running'")).map(({ workflowId }) => workflowId);
  await expect.poll(begun, LONG).toEqual([open?.workflowId]);
  await insertCrossing(database, { tenantId, legs: [{ toAddress: '0xa', amountMicro: 20 }] });
  await receiver.until(2);
  expect(JSON.parse(receiver.received[1]?.body ?? '').data.gross.microUsdc).toBe(20);
  expect((await next.client.workflow.getHandle(delivery.workflowId).describe()).status.name).toBe('RUNNING');
  await next.stop();

  const again = await start();
  expect(await again.client.workflow.getHandle(delivery.workflowId).result()).toBe('recovered');
  const ids = receiver.received.map(({ headers }) => headers['svc-id']);
  expect(ids.filter((id) => id === ids[0])).toHaveLength(2);
  await receiver.stop();
});
