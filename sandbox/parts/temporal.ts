import { existsSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Connection } from '@temporalio/client';
import { prepareNamespace as prepare } from '../../platform/temporal/namespace.ts';
import { choosePort, onFreePort, releasePort } from './ports.ts';
import type { PartProcess } from './processes.ts';
import { startProcess, untilReady } from './processes.ts';
import type { Progress } from './progress.mjs';
import type { TemporalSources } from './temporal-binary.mjs';
import { findTemporal, TEMPORAL_DEV_SERVER_VERSION } from './temporal-binary.mjs';

/** Where Temporal comes from and how it runs. */
export interface TemporalOptions {
  readonly sources: TemporalSources;
  /** Keeps `temporal.db` and the log; kept from run to run. */
  readonly folder: string;
  /** The gRPC port to try first (0: any), then the next free one. */
  readonly port?: number;
  /** The web interface's port to try first (0: any); null starts none. */
  readonly uiPort?: number | null;
  readonly namespace?: string;
  readonly progress: Progress;
  /** How its port is chosen; by trying what is free unless told. */
  readonly choosePort?: typeof choosePort;
}

/** A running Temporal. */
export interface Temporal {
  readonly address: string;
  readonly namespace: string;
  /** Null without a web interface, and for a server we did not start. */
  readonly uiUrl: string | null;
  /** Null for a server we did not start. */
  readonly process: PartProcess | null;
  /** Ends what we started. A second call waits for the first. */
  stop(): Promise<void>;
}

/** Measured: an idle update-with-start with two local activities falls from 50 to 18 ms. */
const DYNAMIC_CONFIG = [
  'matching.numTaskqueueReadPartitions=1',
  'matching.numTaskqueueWritePartitions=1',
  'history.transferProcessorMaxPollRPS=2000',
  'history.timerProcessorMaxPollRPS=2000',
];

/**
 * A Temporal server of the pinned version, with its namespace ready (search attributes, closed workflows kept for at least 30 days): that of
 * `sources.address` if set, else a development server on a file, on 127.0.0.1 only. Throws with what to do when there is none,
 * when it is of another version, and when it does not become ready in 60 s.
 */
export async function startTemporal(options: TemporalOptions): Promise<Temporal> {
  const namespace = options.namespace ?? 'default';
  const { address } = options.sources;
  if (address !== undefined) {
    await prepareNamespace(address, namespace).catch((cause: Error) => {
      throw new Error(`TEMPORAL_ADDRESS ${address}: ${cause.message}`, { cause });
    });
    return { address, namespace, uiUrl: null, process: null, stop: async () => {} };
  }
  const program = await findTemporal(options.sources, options.progress);
  mkdirSync(options.folder, { recursive: true });
  // It picks further ports by itself, any of which another program may take before it is up.
  const start = async (port: number): Promise<Temporal> => {
    const uiPort = options.uiPort === null ? null : await choosePort(options.uiPort ?? 0);
    return startReady(program, options.folder, { namespace, port, uiPort });
  };
  return onFreePort(options.port ?? 0, start, options.choosePort);
}

interface ServerAt {
  readonly namespace: string;
  readonly port: number;
  readonly uiPort: number | null;
}

async function startReady(program: string, folder: string, at: ServerAt): Promise<Temporal> {
  const logFile = join(folder, 'temporal.log');
  const begin = existsSync(logFile) ? statSync(logFile).size : 0;
  const started = await startServer(program, folder, at);
  const probe = async (): Promise<void> => {
    // Said once the server has bound the port: before that another process there might answer.
    if (!/^(?:Temporal )?Server:/m.test(readFileSync(logFile).subarray(begin).toString('utf8')))
      throw new Error('it has not said where it is');
    await prepareNamespace(started.address, at.namespace);
  };
  try {
    await untilReady(started.process, probe, 180_000);
    return started;
  } catch (error) {
    await started.stop();
    throw error;
  }
}

async function startServer(
  program: string,
  folder: string,
  { namespace, port, uiPort }: ServerAt,
): Promise<Temporal & { readonly process: PartProcess }> {
  const process = await startProcess({
    name: 'Temporal',
    command: program,
    args: flags(folder, namespace, port, uiPort),
    logFile: join(folder, 'temporal.log'),
    graceMs: 8_000,
  });
  void process.exited.then(() => [port, ...(uiPort === null ? [] : [uiPort])].forEach(releasePort));
  const uiUrl = uiPort === null ? null : `http://127.0.0.1:${uiPort}`;
  return { address: `127.0.0.1:${port}`, namespace, uiUrl, process, stop: () => process.stop() };
}

function flags(folder: string, namespace: string, port: number, uiPort: number | null): string[] {
  return [
    'server',
    'start-dev',
    '--ip',
    '127.0.0.1',
    '--port',
    String(port),
    '--namespace',
    namespace,
    ...(uiPort === null ? ['--headless'] : ['--ui-port', String(uiPort)]),
    '--db-filename',
    join(folder, 'temporal.db'),
    '--sqlite-pragma',
    'journal_mode=WAL',
    '--sqlite-pragma',
    'synchronous=1',
    ...DYNAMIC_CONFIG.flatMap((value) => ['--dynamic-config-value', value]),
    '--log-level',
    'error',
    '--color',
    'never',
  ];
}

/** Waits for nothing: throws when the server does not answer, is of another version or lacks the namespace. */
async function prepareNamespace(address: string, namespace: string): Promise<void> {
  await checkServer(address);
  await prepare({ address }, namespace);
}

/** Waits for nothing: throws when the server does not answer or is of another version; that of development unless told. */
export async function checkServer(address: string, wanted = TEMPORAL_DEV_SERVER_VERSION): Promise<void> {
  const connection = await Connection.connect({ address, connectTimeout: 2_000 });
  try {
    const { serverVersion } = await connection.workflowService.getSystemInfo({});
    if (serverVersion !== wanted) {
      throw new Error(`the Temporal server is ${serverVersion}, needed is ${wanted}`);
    }
  } finally {
    await connection.close();
  }
}
