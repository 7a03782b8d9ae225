import { Client, Connection } from '@temporalio/client';
import { NativeConnection, Worker } from '@temporalio/worker';
import { expect, test } from 'vitest';
import { createAddressActivities } from '../../activities/addresses.ts';
import { openDatabase } from '../../db/database.ts';
import { ADDRESS_LISTS } from '../../modules/gate/rules/addresses.generated.ts';
import { scheduleAddressRefresh } from '../../modules/gate/use/schedule.ts';
import { openWorkflowBundle } from '../../process/workflowBundle.ts';
import { saveHistory } from '../support/histories.ts';
import { createNamespace } from '../support/namespace.ts';
import { createDatabase } from '../support/parts.ts';
import { runsOf } from '../support/scheduled.ts';

test('a new schedule reads every list at once; one that does not answer leaves the others alone', async () => {
  const own = await createDatabase();
  const database = await openDatabase({ url: own.appUrl });
  const { address, namespace, taskQueue } = await createNamespace();
  const [connection, clientConnection] = await Promise.all([
    NativeConnection.connect({ address }),
    Connection.connect({ address }),
  ]);
  const client = new Client({ connection: clientConnection, namespace });
  const asked: string[] = [];
  const send = async ({ url }: { readonly url: string }) => {
    asked.push(url);
    if (url.includes('openai.com')) return { ok: false, reason: 'timeout', durationMs: 1 } as const;
    return { ok: true, status: 200, headers: {}, body: new TextEncoder().encode('8.8.8.8'), durationMs: 1 } as const;
  };
  const deps = { database, outbound: { send }, clock: Date.now, warn: () => undefined };
  const workflowBundle = await openWorkflowBundle(false);
  const activities = createAddressActivities(deps);
  const worker = await Worker.create({ connection, namespace, taskQueue, workflowBundle, activities });
  const running = worker.run();
  await scheduleAddressRefresh(client, taskQueue);
  await scheduleAddressRefresh(client, taskQueue);
  const finished = () => runsOf(client, 'refreshAddresses', "ExecutionStatus = 'Completed'");
  await expect.poll(async () => (await finished()).length).toBe(1);
  const [run] = await finished();
  const failed = [...ADDRESS_LISTS.values()].filter((url) => url.includes('openai.com')).length;
  const read = ADDRESS_LISTS.size - failed;
  expect(await client.workflow.getHandle(run?.workflowId ?? '').result()).toEqual({ read, changed: read, failed });
  expect(asked).toEqual([...ADDRESS_LISTS.values()]);
  await saveHistory(client, run?.workflowId ?? '', 'refreshAddresses');
  await client.schedule.getHandle('refreshAddresses').delete();
  worker.shutdown();
  await running;
  await Promise.all([connection.close(), clientConnection.close()]);
  await database.close();
  await own.drop();
});
