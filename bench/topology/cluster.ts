/** A Postgres and a Temporal server of a bench's own, so that it may end them: what `npm run cluster` runs on. */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { migrate } from '../../db/migrate.ts';
import { CLUSTER_POSTGRES } from '../../sandbox/cluster/topology.ts';
import { removeCluster } from '../../sandbox/parts/postgres/cluster.ts';
import type { DatabaseUrls, Postgres } from '../../sandbox/parts/postgres/postgres.ts';
import { startPostgres } from '../../sandbox/parts/postgres/postgres.ts';
import type { PartProcess } from '../../sandbox/parts/processes.ts';
import type { TemporalSources } from '../../sandbox/parts/temporal-binary.mjs';
import { temporalSources } from '../../sandbox/parts/temporal-binary.mjs';
import type { TemporalServer } from '../../sandbox/parts/temporal-server.ts';
import { startTemporalServer } from '../../sandbox/parts/temporal-server.ts';
import { benchFolder } from '../harness/parts.ts';

/** The parts, each of which can be killed and started again where it was. */
export interface BenchCluster {
  readonly urls: DatabaseUrls;
  readonly temporal: { readonly address: string; readonly namespace: string };
  killPostgres(): Promise<void>;
  startPostgres(): Promise<void>;
  killTemporal(): Promise<void>;
  startTemporal(): Promise<void>;
  stop(): Promise<void>;
}

/** Where a bench looks for the server. */
export function serverSources(): TemporalSources {
  return temporalSources(process.env, fileURLToPath(new URL('../../.sandbox/cache', import.meta.url)));
}

/** Starts both; the caller stops them. The first one on a machine builds the server, in minutes. */
export async function startBenchCluster(log: (line: string) => void): Promise<BenchCluster> {
  const folder = join(benchFolder(), `cluster-${randomUUID().slice(0, 8)}`);
  const postgresFolder = join(folder, 'postgres');
  let postgres: Postgres = await startPostgres({ folder: postgresFolder, settings: CLUSTER_POSTGRES });
  const { port, ownerUrl, appUrl, superUrl } = postgres;
  const options = { sources: serverSources(), folder: join(folder, 'temporal'), superUrl, progress: log };
  let temporal: TemporalServer | null = null;
  const stop = async (): Promise<void> => {
    await temporal?.stop();
    await postgres.stop();
    removeCluster(postgresFolder);
  };
  try {
    await migrate(ownerUrl);
    const server = await startTemporalServer(options);
    temporal = server;
    return {
      urls: { ownerUrl, appUrl, superUrl },
      temporal: { address: server.address, namespace: server.namespace },
      killPostgres: () => kill(postgres.process),
      startPostgres: async () => {
        postgres = await startPostgres({ folder: postgresFolder, port, settings: CLUSTER_POSTGRES });
      },
      killTemporal: () => kill(temporal?.process ?? null),
      startTemporal: async () => {
        temporal = await startTemporalServer({ ...options, ports: server.ports });
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** SIGKILL, and waits until it is gone. */
export async function kill(part: PartProcess | null): Promise<void> {
  if (part?.isRunning()) process.kill(part.pid, 'SIGKILL');
  await part?.exited;
}
