import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ApiProcess, ServiceProcess } from '../processes-of-service.ts';
import { startApiProcess, startWorkerProcess } from '../processes-of-service.ts';

/** How many of each; the same as in docker-compose.yml. */
export const REPLICAS = { api: 2, worker: 2 } as const;

/** What the processes of a cluster are started with. */
export interface ReplicaOptions {
  readonly environment: Readonly<Record<string, string>>;
  /** A log of its own for each process. */
  readonly logs: string;
}

/** Starts the API of a number, at the port it had before when it is a restart; throws if that is taken meanwhile. */
export async function startApiReplica(options: ReplicaOptions, number: number, port = 0): Promise<ApiProcess> {
  const { environment, logs } = options;
  const api = await startApiProcess({ environment, port, logFile: join(logs, `api-${number}.log`) });
  if (port === 0 || new URL(api.url).port === String(port)) return api;
  await api.stop();
  throw new Error(`the port of API ${number} was taken meanwhile`);
}

/** Starts the worker of a number. */
export function startWorkerReplica({ environment, logs }: ReplicaOptions, number: number): Promise<ServiceProcess> {
  return startWorkerProcess({ environment, logFile: join(logs, `worker-${number}.log`) });
}

/** Where a process serves its metrics, as it said last in its log; null while it has not. */
export function metricsUrlOf({ process }: ServiceProcess): string | null {
  const line = readFileSync(process.logFile, 'utf8')
    .split('\n')
    .findLast((one) => one.includes('"metrics are served"'));
  return line === undefined ? null : (JSON.parse(line) as { readonly url: string }).url;
}
