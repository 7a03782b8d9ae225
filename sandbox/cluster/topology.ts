import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startProcess } from '../parts/processes.ts';
import { temporalSources } from '../parts/temporal-binary.ts';
import type { TemporalServerPorts } from '../parts/temporal-server.ts';
import { startTemporalServer } from '../parts/temporal-server.ts';
import type { ServiceProcess } from '../processes-of-service.ts';
import { sayIfSlow } from '../slow.ts';
import type { Service, ServiceStart, TemporalStart, Topology } from '../topology.ts';
import { startBalancer } from './balancer.ts';
import type { ReplicaOptions } from './replicas.ts';
import { REPLICAS, startApiReplica, startWorkerReplica } from './replicas.ts';

/**
 * Settings of Postgres beside the sandbox's. When Postgres comes back all processes and the four services of Temporal connect at
 * once, and again while their last connections are still being greeted: there must be room for that, or nobody gets in.
 */
export const CLUSTER_POSTGRES: readonly string[] = ['max_connections=500'];

const MIGRATION = fileURLToPath(new URL('../../bin/migrate.ts', import.meta.url));

/**
 * The topology of docker-compose.yml without containers: the Temporal server on Postgres, migrations in a process that ends,
 * API × 2 behind a proxy, worker × 2. For one run: a restart of Temporal takes the ports of the start.
 */
export function createClusterTopology(logs: string): Topology {
  let ports: TemporalServerPorts | null = null;
  return {
    contractName: 'cluster.json',
    postgresSettings: CLUSTER_POSTGRES,
    startTemporal: async ({ options, folder, port, progress, postgres }: TemporalStart) => {
      const { environment } = options;
      const { superUrl } = await postgres;
      const server = await startTemporalServer({
        sources: temporalSources(environment, join(options.folder, 'cache')),
        namespace: environment['TEMPORAL_NAMESPACE'] || 'default',
        ...{ folder, port, progress, superUrl },
        ...(ports === null ? {} : { ports }),
      });
      ({ ports } = server);
      return server;
    },
    migrate: (ownerUrl) => runMigration(ownerUrl, logs),
    startService,
  };
}

/** `bin/migrate.ts`, once, as the owner of the tables. Throws with its own last words. */
export async function runMigration(ownerUrl: string, logs: string): Promise<void> {
  const migration = await startProcess({
    name: 'migration',
    command: process.execPath,
    args: [MIGRATION],
    env: { DATABASE_OWNER_URL: ownerUrl },
    logFile: join(logs, 'migrate.log'),
  });
  const alive = setInterval(() => undefined, 1_000);
  const { code } = await migration.exited;
  clearInterval(alive);
  if (code !== 0) throw new Error(`the migration ended with ${code}:\n${migration.tail()}`);
}

async function startService({ options, environment, lifetime, stage, progress }: ServiceStart): Promise<Service> {
  const proxy = await startBalancer(options.ports.api);
  lifetime.onEnd(stage, () => proxy.close());
  const logs = join(options.folder, 'logs');
  // One issuer of licences, whichever process signs.
  const replicas: ReplicaOptions = { environment: { ...environment, PUBLIC_BASE_URL: proxy.url }, logs };
  const pids = new Map<string, number>();
  const named = <T extends ServiceProcess>(name: string, start: Promise<T>): Promise<T> =>
    start.then((one) => {
      pids.set(name, one.process.pid);
      return one;
    });
  const apis = numbers(REPLICAS.api).map(async (number) => {
    const name = `api-${number}`;
    const api = await sayIfSlow(progress, name, named(name, startApiReplica(replicas, number)));
    const port = Number(new URL(api.url).port);
    lifetime.keep(stage, api, () => named(name, startApiReplica(replicas, number, port)));
    proxy.add(api.url);
    return api.url;
  });
  const workers = numbers(REPLICAS.worker).map(async (number) => {
    const name = `worker-${number}`;
    const worker = await sayIfSlow(progress, name, named(name, startWorkerReplica(replicas, number)));
    lifetime.keep(stage, worker, () => named(name, startWorkerReplica(replicas, number)));
  });
  const urls = await Promise.all(apis);
  await Promise.all(workers);
  return { url: proxy.url, processes: () => ({ apis: urls, logs, pids: Object.fromEntries([...pids].sort()) }) };
}

function numbers(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index + 1);
}
