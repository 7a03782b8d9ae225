import { randomUUID } from 'node:crypto';
import { Client, Connection } from '@temporalio/client';
import { NativeConnection, Worker } from '@temporalio/worker';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createReportActivities } from '../../activities/reports.ts';
import type { Database } from '../../db/database.ts';
import { openDatabase } from '../../db/database.ts';
import { NO_METRICS } from '../../modules/kernel/metrics.ts';
import { openWorkflowBundle } from '../../process/workflowBundle.ts';
import { saveHistory } from '../support/histories.ts';
import { insertTenant } from '../support/ledger.ts';
import { createNamespace } from '../support/namespace.ts';
import type { TestDatabase } from '../support/parts.ts';
import { createDatabase } from '../support/parts.ts';
import { KEPT } from '../support/retention.ts';
import { query } from '../support/sql.ts';

let own: TestDatabase;
let database: Database;
let client: Client;
let stop: () => Promise<void>;
let taskQueue: string;

beforeAll(async () => {
  own = await createDatabase();
  database = await openDatabase({ url: own.appUrl });
  const temporal = await createNamespace();
  taskQueue = temporal.taskQueue;
  const [connection, clientConnection] = await Promise.all([
    NativeConnection.connect({ address: temporal.address }),
    Connection.connect({ address: temporal.address }),
  ]);
  client = new Client({ connection: clientConnection, namespace: temporal.namespace });
  const worker = await Worker.create({
    connection,
    namespace: temporal.namespace,
    taskQueue,
    workflowBundle: await openWorkflowBundle(false),
    activities: createReportActivities({ database, clock: Date.now, retention: KEPT, metrics: NO_METRICS }),
  });
  const running = worker.run();
  stop = async () => {
    worker.shutdown();
    await running;
    await Promise.all([connection.close(), clientConnection.close()]);
  };
});
afterAll(async () => {
  await stop();
  await database.close();
  await own.drop();
});

test('the nightly check finds the site whose counters differ from its rows, and mends it', async () => {
  const tenantId = await insertTenant(database);
  await database.query(
    `insert into observation (tenant_id, observation_id, host, slug, verdict, classified_as, agent, at)
     values ($1, $2, 'alpha.example', 'solo', 'denied', 'agent', 'other', now() - interval '2 days')`,
    [tenantId, randomUUID()],
  );
  const check = (workflowId: string): Promise<unknown> =>
    client.workflow.execute('checkRollups', { taskQueue, workflowId, args: [{ days: 7 }] });
  // A worker that has run for weeks: the last of its days ahead are not there yet.
  const ahead = "select count(*)::int as n from pg_inherits where inhparent = 'observation'::regclass";
  const [full] = await query(own.ownerUrl, ahead);
  await query(own.ownerUrl, `drop table observation_${dayAhead(34)}, observation_${dayAhead(35)}`);
  expect(await check('checkRollups')).toEqual({ sitesThatDiffered: 1 });
  expect(await query(own.ownerUrl, ahead)).toEqual([full]);
  expect(await check('checkRollups-again')).toEqual({ sitesThatDiffered: 0 });
  await saveHistory(client, 'checkRollups');
});

/** As partitions name the day that many days from now. */
function dayAhead(days: number): string {
  return new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10).replaceAll('-', '');
}
