/** The cluster profile of one test file's own: Temporal server on Postgres, API and worker processes behind the proxy. */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client, Connection } from '@temporalio/client';
import { inject } from 'vitest';
import { createRpc } from '../../platform/chain/rpc/rpc.ts';
import type { Balancer } from '../../sandbox/cluster/balancer.ts';
import { startBalancer } from '../../sandbox/cluster/balancer.ts';
import { REPLICAS } from '../../sandbox/cluster/replicas.ts';
import { CLUSTER_POSTGRES, runMigration } from '../../sandbox/cluster/topology.ts';
import { removeCluster } from '../../sandbox/parts/postgres/cluster.ts';
import type { Postgres } from '../../sandbox/parts/postgres/postgres.ts';
import { startPostgres } from '../../sandbox/parts/postgres/postgres.ts';
import { temporalSources } from '../../sandbox/parts/temporal-binary.mjs';
import type { TemporalServer } from '../../sandbox/parts/temporal-server.ts';
import { startTemporalServer } from '../../sandbox/parts/temporal-server.ts';
import { whyNoTemporalServer } from '../../sandbox/parts/temporal-server-binary.mjs';
import type { ApiProcess, ServiceProcess } from '../../sandbox/processes-of-service.ts';
import { checkInvariants } from './invariants.ts';
import { scaled } from './patience.ts';
import { testNetwork } from './payments.ts';
import type { Environment, TestService } from './service.ts';
import { startTestService } from './service.ts';

const SOURCES = temporalSources(process.env, fileURLToPath(new URL('../../.sandbox/cache', import.meta.url)));

/** Why no cluster can run here, as a sentence; null when it can. The first one on a machine builds its server, in minutes. */
export const whyNoCluster = await whyNoTemporalServer(SOURCES);

/** How long a cluster may take to start, the build of its server included. */
export const CLUSTER_LIMIT_MS = scaled(25 * 60_000);

/** A running cluster. */
export interface TestCluster {
  readonly service: TestService;
  readonly proxy: Balancer;
  /** Starts one more API behind the proxy. */
  addApi(environment?: Environment): Promise<ApiProcess>;
  /** Processes that have not ended. */
  liveApis(): readonly ApiProcess[];
  liveWorkers(): readonly ServiceProcess[];
  /** SIGKILL to Postgres, its parent process; resolves when it is gone. */
  killPostgres(): Promise<void>;
  /** As an operator stops it (SIGINT: fast shutdown). */
  stopPostgres(): Promise<void>;
  startPostgres(): Promise<void>;
  killTemporal(): Promise<void>;
  startTemporal(): Promise<void>;
  temporalClient(): Promise<Client & { close(): Promise<void> }>;
  /** Ledger, observations and nonces against the chain. */
  checkInvariants(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts a cluster with a Postgres of its own; as many processes as docker-compose.yml has unless told. The caller stops it. */
export async function startTestCluster(
  options: {
    readonly apis?: number;
    readonly workers?: number;
    readonly environment?: Environment;
    readonly settings?: readonly string[];
  } = {},
): Promise<TestCluster> {
  const folder = join(inject('parts').folder, `cluster-${randomUUID().slice(0, 8)}`);
  const logs = join(folder, 'logs');
  const postgresOptions = { folder: join(folder, 'postgres'), settings: [...CLUSTER_POSTGRES, ...(options.settings ?? [])] };
  let postgres: Postgres = await startPostgres(postgresOptions);
  const { port, superUrl, ownerUrl, appUrl } = postgres;
  const temporalOptions = { sources: SOURCES, folder: join(folder, 'temporal'), superUrl, progress: say };
  let temporal: TemporalServer | null = null;
  let proxy: Balancer | null = null;
  let service: TestService | null = null;
  const stop = async (): Promise<void> => {
    await proxy?.close();
    await service?.stop();
    await temporal?.stop();
    await postgres.stop();
    removeCluster(postgresOptions.folder);
  };
  try {
    const [server] = await Promise.all([startTemporalServer(temporalOptions), runMigration(ownerUrl, logs)]);
    temporal = server;
    const front = await startBalancer();
    proxy = front;
    const { address, namespace } = server;
    const urls = { superUrl, ownerUrl, appUrl, name: 'svc', drop: async () => undefined };
    const running = await startTestService({
      apis: 0,
      worker: false,
      environment: { PUBLIC_BASE_URL: front.url, ...options.environment },
      on: { urls, temporal: { address, namespace } },
    });
    service = running;
    const addApi = async (environment: Environment = {}): Promise<ApiProcess> => {
      const api = await running.startApi(environment);
      front.add(api.url);
      return api;
    };
    await Promise.all([
      ...Array.from({ length: options.apis ?? REPLICAS.api }, () => addApi()),
      ...Array.from({ length: options.workers ?? REPLICAS.worker }, () => running.startWorker()),
    ]);
    const network = testNetwork(running.chain, { blockTimeMs: 1_000 });
    const rpc = createRpc(network);
    return {
      service: running,
      proxy: front,
      addApi,
      liveApis: () => running.apis.filter((api) => api.process.isRunning()),
      liveWorkers: () => running.workers.filter((worker) => worker.process.isRunning()),
      killPostgres: () => kill(postgres.process),
      stopPostgres: () => postgres.stop(),
      startPostgres: async () => {
        postgres = await startPostgres({ ...postgresOptions, port });
        if (postgres.port !== port) throw new Error('the port of Postgres was taken meanwhile');
      },
      killTemporal: () => kill(temporal?.process),
      startTemporal: async () => {
        temporal = await startTemporalServer({ ...temporalOptions, ports: server.ports });
      },
      temporalClient: () => connectTemporal(address, namespace),
      checkInvariants: () =>
        checkInvariants({ database: running.database, rpc, network, deps: { relayersOf: () => [{ address: running.relayer }] } }),
      stop: async () => {
        await rpc.close();
        await stop();
      },
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

function say(line: string): void {
  process.stderr.write(`${line}\n`);
}

async function kill(part: { readonly pid: number; readonly exited: Promise<unknown>; isRunning(): boolean } | null | undefined) {
  if (part?.isRunning()) process.kill(part.pid, 'SIGKILL');
  await part?.exited;
}

async function connectTemporal(address: string, namespace: string): Promise<Client & { close(): Promise<void> }> {
  const connection = await Connection.connect({ address });
  return Object.assign(new Client({ connection, namespace }), { close: () => connection.close() });
}
