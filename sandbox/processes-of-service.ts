import { existsSync, readFileSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { ServiceSecrets } from '../process/serviceSecrets.ts';
import type { choosePort } from './parts/ports.ts';
import { onFreePort, releasePort } from './parts/ports.ts';
import type { PartProcess } from './parts/processes.ts';
import { startProcess, untilReady } from './parts/processes.ts';

/**
 * How often nets for what was missed are drawn. What a sandbox that nobody uses costs is mostly these, and a person who watches one
 * purchase does not wait for them.
 */
const INTERVALS = {
  short: { SWEEP_INTERVAL_MS: '2000', RECONCILE_INTERVAL_MS: '2000' },
  idle: { SWEEP_INTERVAL_MS: '30000', RECONCILE_INTERVAL_MS: '60000' },
} as const;

/** What the service's processes are told; everything else has its default. */
export interface ServiceSettings {
  /** As `svc_app`. */
  readonly databaseUrl: string;
  readonly temporal: { readonly address: string; readonly namespace: string; readonly uiUrl: string | null };
  readonly rpcUrl: string;
  readonly router: string;
  readonly secrets: ServiceSecrets;
  /** Base URL of the sandbox's web; none: its names lead nowhere. */
  readonly sandboxWeb?: string;
  /** None: short. */
  readonly intervals?: keyof typeof INTERVALS;
}

/** A running process of the service. */
export interface ServiceProcess {
  readonly process: PartProcess;
  /** Ends like a power cut, and resolves when it is gone. */
  kill(): Promise<void>;
  /** Orderly end (SIGTERM). A second call waits for the first. */
  stop(): Promise<void>;
}

/** A running API process. */
export interface ApiProcess extends ServiceProcess {
  readonly url: string;
}

const NETWORK = 'eip155:84532';
const START_LIMIT_MS = 180_000;
/** At these, an API does not say that it has started. */
const QUIET_LEVELS = ['warn', 'error', 'fatal', 'silent'];
/** Compiled code is kept from one process to the next, by Node's version and each file's text. */
const NODE_COMPILE_CACHE = fileURLToPath(new URL('../node_modules/.cache/node', import.meta.url));
/** Calls on their way may take this long before the process is cut off; everything is written down by then or retried. */
const GRACE_MS = 4_000;

/** The environment of API and worker (process/config/variables.ts), with the intervals of a sandbox. */
export function serviceEnvironment(settings: ServiceSettings): Record<string, string> {
  const { databaseUrl, temporal, rpcUrl, router, secrets, sandboxWeb } = settings;
  return {
    NODE_ENV: 'development',
    LOG_LEVEL: 'info',
    DATABASE_URL: databaseUrl,
    TEMPORAL_ADDRESS: temporal.address,
    TEMPORAL_NAMESPACE: temporal.namespace,
    ...(temporal.uiUrl === null ? {} : { TEMPORAL_UI_URL: temporal.uiUrl }),
    // Gas is free in a sandbox: what lies at a split is paid out from the lowest price on, and no site runs out of gas.
    NETWORKS: JSON.stringify([{ id: NETWORK, rpcUrls: [rpcUrl], router, blockTimeMs: 1_000, nativePriceMicro: '0' }]),
    GAS_BUDGET_WEI_PER_DAY: '1000000000000000000000',
    NETWORK_GAS_BUDGET_WEI_PER_DAY: '1000000000000000000000',
    RELAYER_PRIVATE_KEYS: JSON.stringify({ [NETWORK]: [secrets.relayerPrivateKey] }),
    LICENCE_KEYS: JSON.stringify({ keys: [secrets.licenceKey] }),
    QUOTE_TOKEN_SECRETS: secrets.quoteTokenSecret,
    API_KEY_PEPPER: secrets.apiKeyPepper,
    SECRETS_KEY: secrets.secretsKey,
    EVENT_WINDOW_MS: '2000',
    ...INTERVALS[settings.intervals ?? 'short'],
    DRAIN_NOTICE_MS: '0',
    OUTBOUND_ALLOW_LOOPBACK: 'true',
    ...(sandboxWeb === undefined ? {} : { OUTBOUND_SANDBOX_WEB: sandboxWeb, FLEET_HOST: 'fleet.sandbox.example' }),
  };
}

/** For callers that are meant to ask as fast as they can, as those of benches: no rate holds them up. */
export const LIFTED_RATES: Readonly<Record<string, string>> = Object.fromEntries(
  ['PER_ADDRESS', 'OF_REFUSED', 'PER_KEY', 'PER_TENANT', 'PER_ACCOUNT', 'PER_ACCOUNT_ADDRESS'].map((name) => [
    `RATE_${name}`,
    '1000000',
  ]),
);

/** Starts `bin/api.ts` and resolves when it answers calls, with whatever parts there are. `port` is tried first, then the next free one; 0: any. */
export async function startApiProcess(options: {
  readonly environment: Readonly<Record<string, string>>;
  readonly port?: number;
  readonly logFile: string;
  /** How a port is chosen; by trying what is free unless told. */
  readonly choosePort?: typeof choosePort;
}): Promise<ApiProcess> {
  const { RELAYER_PRIVATE_KEYS: _relayers, ...environment } = options.environment;
  const saysWhenItListens = !QUIET_LEVELS.includes(environment['LOG_LEVEL'] ?? '');
  const start = async (port: number): Promise<ApiProcess> => {
    const said = readFrom(options.logFile);
    const process = await startProgram('API', 'bin/api.ts', { ...environment, PORT: String(port) }, options.logFile);
    void process.exited.then(() => releasePort(port));
    const url = `http://127.0.0.1:${port}`;
    await readyOrStop(process, async () => {
      // Before it has said so, another process on its port might answer.
      if (saysWhenItListens && !said().includes('"the API listens"')) throw new Error('the API has not said that it listens');
      const answer = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(5_000) });
      const { checks } = (await answer.json()) as { readonly checks?: Readonly<Record<string, string>> };
      if (checks === undefined || checks['process'] === 'failed') throw new Error(`/readyz answers ${answer.status}: it starts`);
    });
    return { url, ...handles(process) };
  };
  return onFreePort(options.port ?? 0, start, options.choosePort);
}

/** Starts `bin/worker.ts` and resolves when it says that it is running. */
export async function startWorkerProcess(options: {
  readonly environment: Readonly<Record<string, string>>;
  readonly logFile: string;
}): Promise<ServiceProcess> {
  const said = readFrom(options.logFile);
  const process = await startProgram('worker', 'bin/worker.ts', options.environment, options.logFile);
  await readyOrStop(process, async () => {
    if (!said().includes('"the worker is running"')) throw new Error('the worker has not said that it is running');
  });
  return handles(process);
}

/** What comes to be written to a file from now on. */
function readFrom(file: string): () => string {
  const begin = existsSync(file) ? statSync(file).size : 0;
  return () => readFileSync(file).subarray(begin).toString('utf8');
}

function startProgram(name: string, program: string, environment: Record<string, string>, logFile: string): Promise<PartProcess> {
  return startProcess({
    name,
    command: process.execPath,
    args: [fileURLToPath(new URL(`../${program}`, import.meta.url))],
    env: { NODE_COMPILE_CACHE, ...environment },
    logFile,
    graceMs: GRACE_MS,
  });
}

async function readyOrStop(part: PartProcess, probe: () => Promise<void>): Promise<void> {
  try {
    await untilReady(part, probe, START_LIMIT_MS);
  } catch (error) {
    await part.stop();
    throw error;
  }
}

function handles(part: PartProcess): ServiceProcess {
  return {
    process: part,
    stop: () => part.stop(),
    kill: async () => {
      if (part.isRunning()) process.kill(part.pid, 'SIGKILL');
      await part.exited;
    },
  };
}
