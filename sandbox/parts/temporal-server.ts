import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ensureNamespace } from '../../platform/temporal/namespace.ts';
import { choosePort, releasePort } from './ports.ts';
import { startProcess, untilReady } from './processes.ts';
import type { Progress } from './progress.mjs';
import type { Temporal } from './temporal.ts';
import { checkServer } from './temporal.ts';
import type { TemporalSources } from './temporal-binary.mjs';
import { TEMPORAL_SERVER_VERSION } from './temporal-binary.mjs';
import type { TemporalDatabase } from './temporal-database.ts';
import { prepareTemporalDatabase } from './temporal-database.ts';
import { findTemporalServer } from './temporal-server-binary.mjs';

/** Where the server comes from and what it runs on. */
export interface TemporalServerOptions {
  readonly sources: TemporalSources;
  /** Keeps the log. */
  readonly folder: string;
  /** The superuser on any database of the Postgres it is to run on. */
  readonly superUrl: string;
  /** Of its databases and their role; `temporal` unless told. */
  readonly database?: string;
  readonly namespace?: string;
  /** The frontend's port to try first (0: any), then the next free one. */
  readonly port?: number;
  /** Of the run before, for a restart: members of a cluster are known by their addresses. */
  readonly ports?: TemporalServerPorts;
  /** 4 unless told; it cannot be changed on databases that exist. Production: 512 and more. */
  readonly historyShards?: number;
  readonly progress: Progress;
}

/** gRPC and membership ports of the four services. */
export type TemporalServerPorts = Readonly<Record<keyof typeof PORT_VARIABLES, number>>;

/** A running Temporal server. */
export interface TemporalServer extends Temporal {
  readonly ports: TemporalServerPorts;
}

const PORT_VARIABLES = {
  frontend: 'TEMPORAL_FRONTEND_PORT',
  frontendMember: 'TEMPORAL_FRONTEND_MEMBER_PORT',
  matching: 'TEMPORAL_MATCHING_PORT',
  matchingMember: 'TEMPORAL_MATCHING_MEMBER_PORT',
  history: 'TEMPORAL_HISTORY_PORT',
  historyMember: 'TEMPORAL_HISTORY_MEMBER_PORT',
  worker: 'TEMPORAL_WORKER_PORT',
  workerMember: 'TEMPORAL_WORKER_MEMBER_PORT',
} as const;

/** `deploy/temporal`: what docker-compose.yml runs the server with. */
const CONFIG_FOLDER = fileURLToPath(new URL('../../deploy/temporal', import.meta.url));
const DEFAULT_SHARDS = 4;

/**
 * The Temporal server as a cluster runs it: four services in one process, on Postgres, by the configuration of
 * `deploy/temporal`, on 127.0.0.1 only, its schema up to date and its namespace there with 30 days of retention. Throws with
 * what to do when there is no server to be had, and with its last words when it does not become ready in 60 s.
 */
export async function startTemporalServer(options: TemporalServerOptions): Promise<TemporalServer> {
  const programs = await findTemporalServer(options.sources, options.progress);
  const database = await prepareTemporalDatabase(options.superUrl, options.database ?? 'temporal', programs.sql);
  const ports = options.ports ?? (await choosePorts(options.port ?? 0));
  const namespace = options.namespace ?? 'default';
  const process = await startProcess({
    name: 'Temporal',
    command: programs.server,
    args: ['--root', '/', '--config', CONFIG_FOLDER, '--env', 'server', '--allow-no-auth', 'start'],
    env: serverEnvironment(database, ports, options.historyShards ?? DEFAULT_SHARDS),
    logFile: join(options.folder, 'temporal.log'),
    graceMs: 8_000,
  });
  void process.exited.then(() => Object.values(ports).forEach(releasePort));
  const address = `127.0.0.1:${ports.frontend}`;
  try {
    await untilReady(process, () => checkServer(address, TEMPORAL_SERVER_VERSION), 180_000);
    await ensureNamespace({ address }, namespace);
  } catch (error) {
    await process.stop();
    throw error;
  }
  return { address, namespace, uiUrl: null, process, ports, stop: () => process.stop() };
}

async function choosePorts(frontend: number): Promise<TemporalServerPorts> {
  const ports: Partial<Record<keyof typeof PORT_VARIABLES, number>> = {};
  for (const name of Object.keys(PORT_VARIABLES) as (keyof typeof PORT_VARIABLES)[]) {
    ports[name] = await choosePort(name === 'frontend' ? frontend : 0);
  }
  return ports as TemporalServerPorts;
}

function serverEnvironment(database: TemporalDatabase, ports: TemporalServerPorts, shards: number): Record<string, string> {
  const names = Object.entries(PORT_VARIABLES) as [keyof TemporalServerPorts, string][];
  return {
    TEMPORAL_DB: database.database,
    TEMPORAL_VISIBILITY_DB: database.visibility,
    TEMPORAL_DB_ADDRESS: database.address,
    TEMPORAL_DB_USER: database.database,
    TEMPORAL_DB_PASSWORD: database.password,
    TEMPORAL_DB_CONNECTIONS: '8',
    TEMPORAL_HISTORY_SHARDS: String(shards),
    TEMPORAL_DYNAMIC_CONFIG: join(CONFIG_FOLDER, 'dynamic.yaml'),
    TEMPORAL_LOG_LEVEL: 'error',
    ...Object.fromEntries(names.map(([name, variable]) => [variable, String(ports[name])])),
  };
}
