/** The whole service as it runs: API and worker processes on a database, a Temporal namespace and a chain of one test's own. */

import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { PrivateKeyAccount } from 'viem/accounts';
import { inject } from 'vitest';
import type { Database } from '../../db/database.ts';
import { openDatabase } from '../../db/database.ts';
import { mintKey } from '../../modules/identity/use/keys/keys.ts';
import { SCOPES } from '../../modules/kernel/access/key.ts';
import type { Address } from '../../modules/kernel/money/legs.ts';
import type { TenantInput } from '../../modules/tenants/use/tenants.ts';
import { createTenant } from '../../modules/tenants/use/tenants.ts';
import { PRESETS } from '../../platform/chain/presets.ts';
import { localSigner } from '../../platform/chain/signature/signer.ts';
import { pepperOf } from '../../platform/tokens/pepper.ts';
import type { ServiceSecrets } from '../../process/serviceSecrets.ts';
import { createServiceSecrets } from '../../process/serviceSecrets.ts';
import { mintUsdc } from '../../sandbox/parts/chain-setup.ts';
import { watch } from '../../sandbox/parts/watchdog.ts';
import type { ApiProcess, ServiceProcess } from '../../sandbox/processes-of-service.ts';
import { LIFTED_RATES, serviceEnvironment, startApiProcess, startWorkerProcess } from '../../sandbox/processes-of-service.ts';
import { ALPHA_PRICING } from './api.ts';
import type { Canary } from './canary.ts';
import { expectNoSecrets } from './canary.ts';
import { createNamespace } from './namespace.ts';
import type { TestChain, TestDatabase } from './parts.ts';
import { createDatabase, startTestChain } from './parts.ts';
import { addressOf, newAccount } from './payments.ts';

/** Changes of the environment, for all processes or for one that is started later. */
export type Environment = Readonly<Record<string, string>>;

/** Who signs licences: one issuer for all API processes, as behind a load balancer. */
export const TEST_ISSUER = 'https://svc.example';

/** A site of a service under test. */
export interface TestSite {
  readonly tenantId: string;
  readonly host: string;
  /** A key with all scopes. */
  readonly key: string;
}

/** A running service. */
export interface TestService {
  readonly database: Database;
  readonly urls: TestDatabase;
  readonly chain: TestChain;
  /** `chain`, then those of `moreChains`. */
  readonly chains: readonly TestChain[];
  readonly temporal: { readonly address: string; readonly namespace: string };
  readonly secrets: ServiceSecrets;
  readonly relayer: `0x${string}`;
  /** In the order they were started; those that ended stay in the lists. */
  readonly apis: readonly ApiProcess[];
  readonly workers: readonly ServiceProcess[];
  /** Of the first API. */
  readonly baseUrl: string;
  startApi(environment?: Environment): Promise<ApiProcess>;
  startWorker(environment?: Environment): Promise<ServiceProcess>;
  /** A site with the pricing of `ALPHA_PRICING`, host `<random>.example`, plan studio, unless told. */
  site(input?: Partial<TenantInput>): Promise<TestSite>;
  /** A new payer with that much test USDC. */
  payer(amountMicro: bigint): Promise<PrivateKeyAccount>;
  /** Throws when a process wrote a secret into its log until now. */
  expectCleanLogs(): Promise<void>;
  stop(): Promise<void>;
}

/**
 * How often a service looks for what was missed where no test waits for that: while nothing breaks, nothing is missed. Looking every two seconds
 * costs 70 ms of CPU a second, in the worker and in Temporal, also while a service waits for the next file.
 */
export const CALM: Environment = { SWEEP_INTERVAL_MS: '5000', RECONCILE_INTERVAL_MS: '10000' };

let shared: Promise<TestService> | null = null;

/**
 * The service that the files of one process share, one after the other: an API and a worker as `startTestService()` starts them, calm, test
 * keys on, which nobody ends before the process does. For files that make sites of their own and break nothing; `stop` looks into the
 * logs as ever, and leaves it running. Not for those that need other settings, or count what is not their site's.
 */
export async function useTestService(): Promise<TestService> {
  shared ??= startTestService({ environment: { ...CALM, TEST_KEYS_ENABLED: 'true' } });
  try {
    const service = await shared;
    // Nothing is written down when this process ends: what they run on goes with them.
    for (const { process: part } of [...service.apis, ...service.workers, service.chain]) watch(part.pid, 'SIGKILL');
    return { ...service, stop: () => service.expectCleanLogs() };
  } catch (error) {
    shared = null;
    throw error;
  }
}

/**
 * Starts everything: one API and one worker unless told, with the sandbox's short intervals unless `CALM`. `apis: 0` and `worker: false`
 * leave them for `startApi` and `startWorker`, which take changes of the environment (`CRASH_AT`). The caller stops it.
 */
export async function startTestService(
  options: {
    readonly apis?: number;
    readonly worker?: boolean;
    readonly environment?: Environment;
    readonly chain?: Parameters<typeof startTestChain>[1];
    /** Chain ids with a preset, played by chains of their own: further networks, after Base Sepolia. */
    readonly moreChains?: readonly number[];
    /** Database and Temporal namespace of the caller's; those of the run unless told. */
    readonly on?: { readonly urls: TestDatabase; readonly temporal: TestService['temporal'] };
  } = {},
): Promise<TestService> {
  const secrets = createServiceSecrets();
  const relayer = localSigner(secrets.relayerPrivateKey).address;
  const [urls, temporal, chain, ...more] = await Promise.all([
    options.on?.urls ?? createDatabase(),
    options.on?.temporal ?? createNamespace(),
    startTestChain({ relayers: [relayer] }, options.chain),
    ...(options.moreChains ?? []).map((chainId) => startTestChain({ relayers: [relayer], ...usdcOf(chainId) }, { chainId })),
  ]);
  const chains = [chain, ...more];
  const database = await openDatabase({ url: urls.appUrl, poolSize: 4 });
  const settings = { databaseUrl: urls.appUrl, rpcUrl: chain.rpcUrl, router: chain.router, secrets };
  const alone = serviceEnvironment({ ...settings, temporal: { ...temporal, uiUrl: null } });
  const environment = {
    ...withNetworks(alone, more),
    PUBLIC_BASE_URL: TEST_ISSUER,
    ...LIFTED_RATES,
    SETTLE_WAIT_MS: '60000', // a busy machine settles late, and a test that means `settlement_pending` says so
    ...options.environment,
  };
  const logFile = (name: string): string => join(inject('parts').folder, `${name}-${randomUUID()}.log`);
  const apis: ApiProcess[] = [];
  const workers: ServiceProcess[] = [];
  const startApi = async (changes: Environment = {}): Promise<ApiProcess> => {
    const api = await startApiProcess({ environment: { ...environment, ...changes }, logFile: logFile('api') });
    apis.push(api);
    return api;
  };
  const startWorker = async (changes: Environment = {}): Promise<ServiceProcess> => {
    const worker = await startWorkerProcess({ environment: { ...environment, ...changes }, logFile: logFile('worker') });
    workers.push(worker);
    return worker;
  };
  const expectCleanLogs = async (): Promise<void> => {
    const shown = [...canariesOf(secrets), ...tokens, ...(await signaturesIn(database))];
    expectNoSecrets(
      [...apis, ...workers].map((one) => one.process.logFile),
      shown,
    );
  };
  const stop = async (): Promise<void> => {
    await Promise.all([...apis, ...workers].map((one) => one.stop()));
    const outcome = await Promise.allSettled([expectCleanLogs()]);
    await Promise.all([database.close(), ...chains.map((one) => one.stop())]);
    await urls.drop();
    if (outcome[0].status === 'rejected') throw outcome[0].reason;
  };
  const tokens: Canary[] = [];
  let minted = Promise.resolve();
  const service = {
    database,
    urls,
    chain,
    chains,
    temporal,
    secrets,
    relayer,
    apis,
    workers,
    startApi,
    startWorker,
    expectCleanLogs,
    stop,
    get baseUrl() {
      return (apis[0] as ApiProcess).url;
    },
    site: async (input: Partial<TenantInput> = {}): Promise<TestSite> => {
      const hosts = input.hosts ?? [`${randomUUID().slice(0, 8)}.example`];
      const { tenantId } = await createTenant({ database }, { plan: 'studio', pricing: ALPHA_PRICING, ...input, hosts });
      const { token } = await mintKey({ database, pepper: pepperOf(secrets) }, { tenantId, name: 'all', scopes: SCOPES });
      tokens.push({ name: 'an API key', value: token });
      return { tenantId, host: hosts[0] as string, key: token };
    },
    payer: async (amountMicro: bigint): Promise<PrivateKeyAccount> => {
      const account = newAccount();
      // One after the other: they share the faucet's nonce.
      minted = minted.then(() => mintUsdc(chain.rpcUrl, addressOf(account), amountMicro));
      await minted;
      return account;
    },
  };
  try {
    await Promise.all([
      options.worker === false ? null : startWorker(),
      ...Array.from({ length: options.apis ?? 1 }, () => startApi()),
    ]);
    return service;
  } catch (error) {
    await stop();
    throw error;
  }
}

/** The USDC that stock clients know on a chain with a preset. */
function usdcOf(chainId: number): { readonly usdc?: Address } {
  const preset = PRESETS[`eip155:${chainId}`];
  return preset ? { usdc: preset.asset } : {};
}

/** The environment with further networks on chains of a test, and the same relayer key for each. */
function withNetworks(environment: Environment, chains: readonly TestChain[]): Environment {
  const [first] = JSON.parse(environment['NETWORKS'] ?? '[]') as { readonly id: string; readonly blockTimeMs: number }[];
  const keys = JSON.parse(environment['RELAYER_PRIVATE_KEYS'] ?? '{}') as Record<string, string[]>;
  const entries = chains.map(({ chainId, rpcUrl, router, usdc }) => ({
    ...first,
    id: `eip155:${chainId}`,
    rpcUrls: [rpcUrl],
    router,
    asset: usdc,
    assetName: 'USDC', // our token's name
    nativePriceMicro: PRESETS[`eip155:${chainId}`]?.nativePriceMicro?.toString() ?? '0',
  }));
  return {
    ...environment,
    NETWORKS: JSON.stringify([first, ...entries]),
    RELAYER_PRIVATE_KEYS: JSON.stringify({
      ...keys,
      ...Object.fromEntries(entries.map(({ id }) => [id, keys[first?.id ?? '']])),
    }),
  };
}

/** The secrets of a service, by name. */
function canariesOf(secrets: ServiceSecrets): Canary[] {
  return [
    { name: 'the pepper', value: secrets.apiKeyPepper },
    { name: 'the secret of quote tokens', value: secrets.quoteTokenSecret },
    { name: 'the key of webhook secrets', value: secrets.secretsKey },
    { name: 'the key that signs licences', value: secrets.licenceKey.d },
    { name: "the relayer's key", value: secrets.relayerPrivateKey.slice(2) },
  ];
}

/** Signatures of the payments a run took in: anybody who has one can settle it. A database that is gone shows none. */
async function signaturesIn(database: Database): Promise<Canary[]> {
  const rows = await database
    .query<{ signature: string }>("select encode(signature, 'hex') as signature from payment")
    .catch(() => []);
  return rows.map(({ signature }) => ({ name: "a payment's signature", value: signature }));
}
