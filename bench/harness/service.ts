/** The whole service as it runs, for benches: processes of `bin/api.ts` and `bin/worker.ts` on parts of the run. */

import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { Database } from '../../db/database.ts';
import { openDatabase } from '../../db/database.ts';
import { GRAPHQL_PATH } from '../../graphql/request/path.ts';
import { mintKey } from '../../modules/identity/use/keys/keys.ts';
import { SCOPES } from '../../modules/kernel/access/key.ts';
import type { TenantInput } from '../../modules/tenants/use/tenants.ts';
import { createTenant } from '../../modules/tenants/use/tenants.ts';
import { localSigner } from '../../platform/chain/signature/signer.ts';
import { pepperOf } from '../../platform/tokens/pepper.ts';
import type { LimitName } from '../../process/config/limits.ts';
import { LIMITS } from '../../process/config/limits.ts';
import type { ServiceSecrets } from '../../process/serviceSecrets.ts';
import { createServiceSecrets } from '../../process/serviceSecrets.ts';
import { layered, limits } from '../../sandbox/limits.ts';
import type { ChainOptions } from '../../sandbox/parts/chain.ts';
import type { DatabaseUrls } from '../../sandbox/parts/postgres/postgres.ts';
import type { ApiProcess, ServiceProcess } from '../../sandbox/processes-of-service.ts';
import { LIFTED_RATES, serviceEnvironment, startApiProcess, startWorkerProcess } from '../../sandbox/processes-of-service.ts';
import type { Parts } from './cpu.ts';
import { CLIENT } from './cpu.ts';
import type { BenchChain } from './parts.ts';
import { atEndOfRun, benchChain, benchDatabase, benchFolder, benchParts, benchTemporal } from './parts.ts';

/** The rates that callers have when nobody sets them; other benches lift them. */
export const PRODUCT_RATES = limits(
  Object.fromEntries(
    (Object.keys(JSON.parse(LIFTED_RATES.LIMITS) as object) as LimitName[]).map((name) => [name, LIMITS[name].fallback]),
  ),
);

/** A running service. */
export interface BenchService {
  readonly database: Database;
  readonly urls: DatabaseUrls;
  readonly chain: BenchChain;
  readonly temporal: { readonly address: string; readonly namespace: string };
  readonly secrets: ServiceSecrets;
  readonly apis: readonly ApiProcess[];
  readonly workers: readonly ServiceProcess[];
  /** The processes that run now, this one as their client; without those of parts that the caller brought. */
  parts(): Parts;
  /** Of the first API. */
  readonly baseUrl: string;
  /** Starts one more worker; the caller may stop it before the service. */
  startWorker(): Promise<ServiceProcess>;
  /** One more API process; the service ends it. */
  startApi(): Promise<ApiProcess>;
  /** A site with a key that has all scopes; plan studio unless told. */
  site(input: Pick<TenantInput, 'hosts' | 'pricing'> & Partial<TenantInput>): Promise<BenchSite>;
  stop(): Promise<void>;
}

/** A site of a service. */
export interface BenchSite {
  readonly tenantId: string;
  readonly host: string;
  readonly key: string;
}

let shared: Promise<BenchService> | null = null;

/** The service that benches of the API share: one API, no worker; the run ends it. Each bench has its own site in it. */
export function sharedService(): Promise<BenchService> {
  shared ??= startBenchService().then((service) => {
    atEndOfRun(service.stop);
    return service;
  });
  return shared;
}

/** Starts one API and no worker unless told; `environment` changes variables of all processes. The caller stops it. */
export async function startBenchService(
  options: {
    readonly apis?: number;
    readonly workers?: number;
    readonly environment?: Readonly<Record<string, string>>;
    readonly chain?: Omit<ChainOptions, 'folder' | 'port'>;
    /** Database and Temporal namespace of the caller's; new ones on the run's parts unless told. */
    readonly on?: { readonly urls: DatabaseUrls; readonly temporal: BenchService['temporal'] };
  } = {},
): Promise<BenchService> {
  const secrets = createServiceSecrets();
  const relayers = [localSigner(secrets.relayerPrivateKey).address];
  const [urls, temporal, chain] = await Promise.all([
    options.on?.urls ?? benchDatabase(),
    options.on?.temporal ?? benchTemporal(),
    benchChain({ relayers }, options.chain),
  ]);
  const database = await openDatabase({ url: urls.appUrl, poolSize: 4 });
  const settings = { databaseUrl: urls.appUrl, rpcUrl: chain.rpcUrl, router: chain.router, secrets };
  const environment = layered(
    serviceEnvironment({ ...settings, temporal: { ...temporal, uiUrl: null } }),
    LIFTED_RATES,
    { LOG_LEVEL: 'warn', PUBLIC_BASE_URL: 'https://svc.example' },
    options.environment ?? {},
  );
  const logFile = (name: string): string => join(benchFolder(), `${name}-${randomUUID()}.log`);
  const apis: ApiProcess[] = [];
  const workers: ServiceProcess[] = [];
  const startWorker = async (): Promise<ServiceProcess> => {
    // A worker says at this level that it runs.
    const worker = await startWorkerProcess({ environment: { ...environment, LOG_LEVEL: 'info' }, logFile: logFile('worker') });
    workers.push(worker);
    return worker;
  };
  const startApi = async (): Promise<ApiProcess> => {
    const api = await startApiProcess({ environment, logFile: logFile('api') });
    apis.push(api);
    await fetch(`${api.url}${GRAPHQL_PATH}`, { method: 'POST' }); // opens it, as it is open from the start in production
    return api;
  };
  const stop = async (): Promise<void> => {
    await Promise.all([...apis, ...workers].map((one) => one.stop()));
    await Promise.all([database.close(), chain.stop()]);
    if ('drop' in urls) await urls.drop();
  };
  const ofRun: Parts = options.on ? {} : await benchParts();
  const parts = (): Parts => ({
    ...ofRun,
    ...CLIENT,
    chain: [chain.pid()],
    api: apis.map(({ process }) => process.pid),
    worker: workers.filter(({ process }) => process.isRunning()).map(({ process }) => process.pid),
  });
  try {
    for (let count = 0; count < (options.apis ?? 1); count++) {
      await startApi();
    }
    for (let count = 0; count < (options.workers ?? 0); count++) {
      await startWorker();
    }
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    database,
    urls,
    chain,
    temporal,
    secrets,
    apis,
    workers,
    startApi,
    startWorker,
    stop,
    parts,
    baseUrl: apis[0]?.url ?? '',
    site: async (input) => {
      const { tenantId } = await createTenant({ database }, { plan: 'studio', ...input });
      const { token } = await mintKey({ database, pepper: pepperOf(secrets) }, { tenantId, name: 'bench', scopes: SCOPES });
      return { tenantId, host: input.hosts[0] as string, key: token };
    },
  };
}
