/** Host verification as it runs: REST API, Temporal worker and a web of the test's own, on one database. */

import { Client, Connection } from '@temporalio/client';
import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { createHostActivities } from '../../activities/hosts.ts';
import { HOST_TIMES } from '../../modules/hosts/rules/challengeSchedule.ts';
import { createHostProbe } from '../../modules/hosts/use/hostProbe.ts';
import { createHostWorkflows } from '../../modules/hosts/use/workflows.ts';
import { createHostDns } from '../../platform/outbound/hostDns.ts';
import { createOutbound } from '../../platform/outbound/outbound.ts';
import { rerouteToSandbox, withSandboxNames } from '../../process/sandboxWeb.ts';
import { openWorkflowBundle } from '../../process/workflowBundle.ts';
import { startSandboxWeb } from '../../sandbox/site.ts';
import { startTestApi } from './api.ts';
import { useTemporal } from './parts.ts';

/** The name CNAMEs point at in these tests. */
export const FLEET = 'fleet.sandbox.example';

/** Starts all of it; caps and times may be changed by the test while it runs. The caller stops it. */
export async function startHostWorld() {
  Runtime.install({ logger: new DefaultLogger('ERROR') });
  const web = await startSandboxWeb(0);
  const { address, namespace, taskQueue } = useTemporal();
  const connection = await Connection.connect({ address });
  const client = new Client({ connection, namespace });
  const native = await NativeConnection.connect({ address });
  const outbound = createOutbound({ allowLoopback: true, reroute: rerouteToSandbox(web.url) });
  const caps = { perHour: 10_000, perHost: 10_000, gapMs: 0 };
  const times = { ...HOST_TIMES, openGapsMs: [...HOST_TIMES.openGapsMs], confirmAfterMs: [...HOST_TIMES.confirmAfterMs] };
  const hosts = { workflows: createHostWorkflows(client, taskQueue), caps, times, ownHosts: ['own.example'] };
  const api = await startTestApi({ hosts, outbound });
  const { database } = api.deps;
  const dns = withSandboxNames(createHostDns(), web.url, outbound);
  const probe = createHostProbe({ outbound, dns, fleetHost: FLEET, timeoutMs: 3_000 });
  const startWorker = async () => {
    const worker = await Worker.create({
      connection: native,
      namespace,
      taskQueue,
      workflowBundle: await openWorkflowBundle(false),
      stickyQueueScheduleToStartTimeout: '1s',
      activities: createHostActivities({
        database,
        probe,
        times,
        looksPerHour: 10_000,
        clock: api.deps.clock,
        warn: () => undefined,
      }),
    });
    const running = worker.run();
    return async () => {
      worker.shutdown();
      await running;
    };
  };
  let stopWorker = await startWorker();
  const control = async (path: string, body: object): Promise<void> => {
    const { status } = await fetch(`${web.controlUrl}${path}`, { method: 'POST', body: JSON.stringify(body) });
    if (status !== 200) throw new Error(`the control of the web answers ${status}`);
  };
  return {
    api,
    client,
    taskQueue,
    caps,
    times,
    web,
    /** Sets a page of the test's web; left out: status 200. */
    page: (host: string, path: string, body: string, more: object = {}) => control('/pages', { host, path, body, ...more }),
    dns: (name: string, txt: readonly string[], cname: string | null = null) => control('/dns', { name, txt, cname }),
    restartWorker: async () => {
      await stopWorker();
      stopWorker = await startWorker();
    },
    stop: async (): Promise<void> => {
      await stopWorker();
      await api.stop();
      await Promise.all([native.close(), connection.close(), outbound.close(), web.close()]);
    },
  };
}

/** What `startHostWorld` gives. */
export type HostWorld = Awaited<ReturnType<typeof startHostWorld>>;
