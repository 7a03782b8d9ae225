import { join } from 'node:path';
import { migrate } from '../db/migrate.ts';
import { keepAdminEnvironment } from './admin-environment.ts';
import type { Balancer } from './cluster/balancer.ts';
import type { Lifetime } from './lifetime.ts';
import type { SandboxOptions } from './options.ts';
import type { Postgres } from './parts/postgres/postgres.ts';
import type { Progress } from './parts/progress.mjs';
import type { Temporal } from './parts/temporal.ts';
import { startTemporal } from './parts/temporal.ts';
import { temporalSources } from './parts/temporal-binary.mjs';
import type { Waits } from './print.ts';
import type { ApiProcess, ServiceSettings } from './processes-of-service.ts';
import { startApiProcess, startWorkerProcess } from './processes-of-service.ts';

/** What the sandbox and the cluster profile have in different shapes. */
export interface Topology {
  /** Name of the file that says where everything is. */
  readonly contractName: 'sandbox.json' | 'cluster.json';
  /** Settings of Postgres beside the usual ones, `name=value`. */
  readonly postgresSettings: readonly string[];
  /** True gives the demo site a history, unless it is asked for none. */
  readonly history: boolean;
  /** True keeps an archive of the WAL beside the data. */
  readonly archive: boolean;
  /** How often the service sweeps and reconciles. */
  readonly intervals: NonNullable<ServiceSettings['intervals']>;
  /** With these ports tried first; a second call, after the first one's end, is a restart. */
  startTemporal(start: TemporalStart): Promise<Temporal>;
  /** Brings the schema of the service up to date. */
  migrate(ownerUrl: string): Promise<void>;
  /** Starts the processes of the service and keeps them alive. */
  startService(start: ServiceStart): Promise<Service>;
}

/** What Temporal is started with. */
export interface TemporalStart {
  readonly options: SandboxOptions;
  readonly folder: string;
  readonly port: number;
  readonly uiPort: number;
  /** How far it is got, where it must be got first. */
  readonly progress: Progress;
  /** Already running, or about to. */
  readonly postgres: Promise<Postgres>;
}

/** What the service's processes are started with. */
export interface ServiceStart {
  readonly options: SandboxOptions;
  readonly environment: Readonly<Record<string, string>>;
  readonly lifetime: Lifetime;
  readonly stage: number;
  readonly say: Progress;
  readonly waits: Waits;
}

/** A running service. */
export interface Service {
  readonly url: string;
  /** What the contract file says of it besides, read anew at each call. */
  processes?(): ServiceProcesses;
  /** Of a cluster: what stands in front of its API processes, and one more of them, with changes of its environment. */
  readonly cluster?: {
    readonly proxy: Balancer;
    startApi(environment: Readonly<Record<string, string>>): Promise<ApiProcess>;
  };
}

/** What a cluster's contract file says of its processes. */
export interface ServiceProcesses {
  readonly apis: readonly string[];
  readonly logs: string;
  /** Of every process, parts included, by its name. */
  readonly pids: Readonly<Record<string, number>>;
  /** Where each process serves its metrics. */
  readonly metrics: Readonly<Record<string, string>>;
  /** What is told on screen besides, by name. */
  readonly places: Readonly<Record<string, string>>;
}

/** One API, one worker, Temporal's development server. */
export const SANDBOX: Topology = {
  contractName: 'sandbox.json',
  postgresSettings: [],
  archive: false,
  history: true,
  intervals: 'idle',
  startTemporal: ({ options, folder, port, uiPort, progress }) => {
    const { environment } = options;
    return startTemporal({
      sources: temporalSources(environment, join(options.folder, 'cache')),
      namespace: environment['TEMPORAL_NAMESPACE'] || 'default',
      folder,
      port,
      uiPort,
      progress,
    });
  },
  migrate,
  startService: async ({ options, environment, lifetime, stage, waits }) => {
    const logs = join(options.folder, 'logs');
    const startApi = (port: number) => startApiProcess({ environment, port, logFile: join(logs, 'api.log') });
    const startWorker = () => startWorkerProcess({ environment, logFile: join(logs, 'worker.log') });
    const keptApi = waits
      .until('the API', () => startApi(options.ports.api))
      .then((api) => {
        lifetime.keep(stage, api, () => startApi(Number(new URL(api.url).port)));
        return api;
      });
    const keptWorker = waits.until('the worker', startWorker).then((worker) => lifetime.keep(stage, worker, startWorker));
    const [api] = await Promise.all([keptApi, keptWorker]);
    const folder = options.folder;
    keepAdminEnvironment({ folder, stage, lifetime }, { PUBLIC_BASE_URL: api.url, ...environment });
    return api;
  },
};
