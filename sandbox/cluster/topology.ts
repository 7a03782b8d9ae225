import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { keepAdminEnvironment } from '../admin-environment.ts';
import { layered, limits } from '../limits.ts';
import { startProcess } from '../parts/processes.ts';
import { temporalSources } from '../parts/temporal-binary.mjs';
import type { TemporalServerPorts } from '../parts/temporal-server.ts';
import { startTemporalServer } from '../parts/temporal-server.ts';
import type { ApiProcess, ServiceProcess } from '../processes-of-service.ts';
import type { Service, ServiceProcesses, ServiceStart, TemporalStart, Topology } from '../topology.ts';
import { startBalancer } from './balancer.ts';
import { findOnPath, startPrometheus } from './prometheus.ts';
import type { ReplicaOptions } from './replicas.ts';
import { metricsUrlOf, REPLICAS, startApiReplica, startWorkerReplica } from './replicas.ts';

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
    archive: true,
    history: false,
    intervals: 'short',
    startTemporal: async ({ options, folder, port, progress, postgres }: TemporalStart) => {
      const { environment } = options;
      const { superUrl } = await postgres;
      const server = await startTemporalServer({
        sources: temporalSources(environment, join(options.folder, 'cache')),
        namespace: environment['TEMPORAL_NAMESPACE'] || 'default',
        folder,
        port,
        progress,
        superUrl,
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
  if (code !== 0)
    throw new Error(`the schema cannot be brought up to date; \`--fresh\` begins with empty data. ${migration.tail(1)}`);
}

async function startService({ options, environment: given, lifetime, stage, say, waits }: ServiceStart): Promise<Service> {
  const urls = new Map<string, string>();
  const logs = join(options.folder, 'logs');
  const program = findOnPath('prometheus', options.environment['PATH']);
  const prometheus = program === null ? null : await startPrometheus(program, join(options.folder, 'prometheus'), logs);
  if (prometheus === null) say('alerts are not judged: there is no prometheus on PATH (docs/runbook.md)');
  else lifetime.onEnd(stage - 1, () => prometheus.process.stop());
  const proxy = await startBalancer(options.ports.api);
  lifetime.onEnd(stage, () => proxy.close());
  const collector = options.environment['OTEL_EXPORTER_OTLP_ENDPOINT'];
  const telemetry = {
    METRICS_PORT: '0',
    ...(collector ? { OTEL_EXPORTER_OTLP_ENDPOINT: collector } : {}),
  };
  // One issuer of licences, whichever process signs.
  const front = { PUBLIC_BASE_URL: proxy.url, TRUSTED_PROXIES: '127.0.0.1/32' };
  const environment = layered(given, telemetry, limits({ metricsIntervalMs: 5_000 }), front);
  keepAdminEnvironment({ folder: options.folder, stage, lifetime }, environment);
  const replicas: ReplicaOptions = { environment, logs };
  const pids = new Map<string, number>();
  const named = async <T extends ServiceProcess>(name: string, start: Promise<T>): Promise<T> => {
    const one = await start;
    pids.set(name, one.process.pid);
    const url = metricsUrlOf(one);
    if (url !== null) urls.set(name, url);
    prometheus?.follow(urls);
    return one;
  };
  const apis = numbers(REPLICAS.api).map(async (number) => {
    const name = `api-${number}`;
    const api = await waits.until(name, () => named(name, startApiReplica(replicas, number)));
    const port = Number(new URL(api.url).port);
    lifetime.keep(stage, api, () => named(name, startApiReplica(replicas, number, port)));
    proxy.add(api.url);
    return api.url;
  });
  const workers = numbers(REPLICAS.worker).map(async (number) => {
    const name = `worker-${number}`;
    const worker = await waits.until(name, () => named(name, startWorkerReplica(replicas, number)));
    lifetime.keep(stage, worker, () => named(name, startWorkerReplica(replicas, number)));
  });
  const apiUrls = await Promise.all(apis);
  await Promise.all(workers);
  const processes = (): ServiceProcesses => {
    const { Postgres: postgres, Temporal: temporal } = lifetime.pids();
    const parts = { ...(postgres === undefined ? {} : { postgres }), ...(temporal === undefined ? {} : { temporal }) };
    const places: Record<string, string> = prometheus === null ? {} : { alerts: `${prometheus.url}/alerts` };
    const ids = { ...Object.fromEntries([...pids].sort()), ...parts };
    return { apis: apiUrls, logs, pids: ids, metrics: Object.fromEntries([...urls].sort()), places };
  };
  let others: number = REPLICAS.api;
  const startApi = async (changes: Readonly<Record<string, string>>): Promise<ApiProcess> => {
    others += 1;
    const api = await startApiReplica({ environment: layered(environment, changes), logs }, others);
    lifetime.onEnd(stage, () => api.stop());
    return api;
  };
  return { url: proxy.url, processes, cluster: { proxy, startApi } };
}

function numbers(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index + 1);
}
