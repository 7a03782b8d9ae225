import { Client, Connection } from '@temporalio/client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createPurchaseStart } from '../../modules/storefront/use/licences/startPurchaseWorkflow.ts';
import { createNamespace } from '../support/namespace.ts';
import type { CutProxy } from '../support/proxy.ts';
import { startProxy } from '../support/proxy.ts';

let proxy: CutProxy;
let temporal: Awaited<ReturnType<typeof createNamespace>>;
beforeAll(async () => {
  temporal = await createNamespace();
  proxy = await startProxy(Number(temporal.address.split(':')[1]));
});
afterAll(() => proxy.close());

test('a purchase made while Temporal is away is followed once it is back', async () => {
  const connection = await Connection.connect({ address: `127.0.0.1:${proxy.port}` });
  const client = new Client({ connection, namespace: temporal.namespace });
  const warnings: object[] = [];
  const log = { info: () => undefined, warn: (fields: object) => warnings.push(fields), error: () => undefined };
  proxy.cut();
  const ref = { tenantId: crypto.randomUUID(), paymentId: crypto.randomUUID() };
  createPurchaseStart(client, 'nobody', log)(ref);
  await expect.poll(() => warnings.length).toBeGreaterThan(0);
  proxy.mend();
  const workflow = client.workflow.getHandle(`licence:${ref.paymentId}`);
  const status = async () => (await workflow.describe().catch(() => null))?.status.name ?? null;
  await expect.poll(status, { interval: 250 }).toBe('RUNNING');
  await workflow.terminate();
  await connection.close();
});
