import type { RequestListener, Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from '@temporalio/client';
import { createApi, ROUTE_PATHS } from '../../api/app.ts';
import { CONSOLE_PATHS } from '../../api/console/handler.ts';
import { withSafetyHeaders } from '../../api/everyAnswer.ts';
import { createRouteNames } from '../../api/routeName.ts';
import type { Database } from '../../db/database.ts';
import { openDatabase } from '../../db/database.ts';
import { GRAPHQL_PATH } from '../../graphql/request/path.ts';
import { openLiveness } from '../../modules/gate/use/liveness.ts';
import { openCodeWallets } from '../../modules/identity/use/accounts/codeWallets.ts';
import { openKeyUse } from '../../modules/identity/use/keys/keyUse.ts';
import { openRehash } from '../../modules/identity/use/keys/rehash.ts';
import { adoptOwners } from '../../modules/identity/use/owners/issuer.ts';
import { openSnapshots } from '../../modules/identity/use/tenantSnapshots.ts';
import { LICENCE_LIFE_SECONDS } from '../../modules/kernel/licence/licence.ts';
import { openKeyring, refreshKeyring } from '../../modules/licences/use/keyring.ts';
import { watchProcess } from '../../modules/operations/use/processWatch.ts';
import type { CreditsBookOptions } from '../../modules/quotes/use/credits/book.ts';
import { openCreditsBook } from '../../modules/quotes/use/credits/book.ts';
import type { PublisherDeps } from '../../modules/quotes/use/deps.ts';
import { openReportDatabase } from '../../modules/reports/store/pools.ts';
import type { SettlementDeps } from '../../modules/settlement/use/deps.ts';
import { openScopes, SCOPE_LIMITS } from '../../modules/storefront/use/licences/scopes.ts';
import { issuerOf } from '../../modules/tenants/use/tenants.ts';
import type { Networks } from '../../platform/chain/network.ts';
import type { Rpc } from '../../platform/chain/rpc/rpc.ts';
import type { Log } from '../../platform/telemetry/log.ts';
import { openTemporal } from '../../platform/temporal/connection.ts';
import type { Keyring } from '../../platform/tokens/jws.ts';
import { pepperOf } from '../../platform/tokens/pepper.ts';
import { createSecretBox } from '../../platform/tokens/secretBox.ts';
import type { ApiConfig } from '../config.ts';
import { createHostService, openOutbound } from '../hosts.ts';
import type { ComparedNetworks } from '../networks.ts';
import { compareNetworks } from '../networks.ts';
import { createSettlementDeps } from '../settlement.ts';
import type { Telemetry } from '../telemetry.ts';
import { openTelemetry, withTelemetry } from '../telemetry.ts';
import { temporalServerOf } from '../temporal.ts';
import { processName, VERSION } from '../version.ts';
import type { Part } from '../whileAway.ts';
import { whenDatabaseAnswers } from '../whileAway.ts';
import { openAgents } from './agents.ts';
import { openCallers } from './callers.ts';
import { answerCalls } from './calls.ts';
import { openConsole } from './console.ts';
import { openGraphql } from './graphql.ts';
import { openReadiness } from './readiness.ts';
import { createApiServer } from './server.ts';
import { openSettlement } from './settlement.ts';
import { answerWhileStarting } from './starting.ts';

/** A running API process. */
export interface RunningApi {
  /** Where it listens; with `PUBLIC_BASE_URL` others reach it elsewhere. */
  readonly url: string;
  /** Stops taking calls, lets those on their way end (25 s at most), and closes everything. Again: the same end. */
  close(): Promise<void>;
}

const KEYRING_REFRESH_MS = 30_000;
/** How often clocks and RPC nodes are looked at. */
const WATCH_MS = 10_000;
const DRAIN_MS = 25_000;
/** A call that arrives while the handler closes is seen within two of these. */
const DRAIN_LOOK_MS = 100;

/**
 * Starts the API: listens, then opens database, networks (compared with their chain), signing keys, copies in memory, and the handler. Waits
 * for a database that is away, and answers calls meanwhile by saying so; Temporal and nodes may be away. Rejects, with everything closed
 * again, when the port is taken or a part does not fit the configuration.
 */
export async function startApi(config: ApiConfig, log: Log): Promise<RunningApi> {
  const closers: (() => Promise<unknown> | unknown)[] = [];
  const closeAll = async (): Promise<void> => {
    for (const close of closers.splice(0).reverse()) await close();
  };
  try {
    return await open(config, log, closers, closeAll);
  } catch (error) {
    await closeAll();
    throw error;
  }
}

async function open(
  config: ApiConfig,
  log: Log,
  closers: (() => Promise<unknown> | unknown)[],
  closeAll: () => Promise<void>,
): Promise<RunningApi> {
  const clock = Date.now;
  const telemetry = await openTelemetry(config, 'svc-api', log);
  closers.push(() => telemetry.close());
  const { server, url, calls, waiting, answerWith } = await openDoor(config, log, closers);
  const { database, reading } = await openPools(config, telemetry, closers, waiting);
  await adoptOwners({ database, log }, config.oidcIssuer);
  const connection = openTemporal(temporalServerOf(config), 'brief');
  closers.push(() => connection.close());
  const parts = await openChains(withTelemetry(createSettlementDeps(config, database, log), telemetry), closers);
  const { networks, rpcOf } = parts;
  const watch = await watchProcess(parts, { intervalMs: WATCH_MS, set: telemetry.setGauges });
  closers.push(watch.close);
  const isAway = (id: string): boolean => !parts.isCompared(id) || watch.isAway(id);

  const privateKeys = config.licenceKeys ?? [];
  const keyring = await whenDatabaseAnswers(waiting, () => openKeyring(database, { privateKeys, clock }));
  keyring.onSign = () => telemetry.metrics.count('svc.licence.minted');
  closers.push(keepFresh(keyring, database, log));
  const directUrl = config.databaseDirectUrl ?? config.databaseUrl;
  const { priceFloorMicro, quoteTokenSecrets, testKeysEnabled } = config;
  const rehash = openRehash({ database, log });
  const held = { database, directUrl, networkIds: networks.ids, priceFloorMicro, clock, log, rehash };
  const snapshots = await whenDatabaseAnswers(waiting, () => openSnapshots(held));
  closers.push(rehash.settled, () => snapshots.close());
  const uses = openUses({ database, clock, log }, closers);

  const { outbound, secretBox, credits, agents } = openOutside(config, { database, clock, log, networks }, closers);

  const baseUrl = config.publicBaseUrl ?? url;
  const deps: PublisherDeps = {
    database,
    snapshots,
    keyring,
    credits,
    networks,
    isAway,
    clock,
    priceFloorMicro,
    baseUrl,
    pepper: pepperOf(config),
    quoteTokenSecrets,
    testKeysEnabled,
    ...uses,
    rehash,
    metrics: telemetry.metrics,
  };
  const issuer = async (tenantId: string): Promise<string> =>
    issuerOf(deps, (await snapshots.tenant(tenantId)) ?? { licenseIssuer: null });
  const client = new Client({ connection, namespace: config.temporalNamespace, plugins: telemetry.plugins });
  const trace = telemetry.currentTrace;
  const settlement = openSettlement({ settlement: parts, client, keyring, issuerOf: issuer, baseUrl, directUrl, trace });
  closers.push(settlement.close, () => drain(server, calls));
  const grounds = { parts, database, connection, clock: watch.requireRightClock, log };
  const { readiness, networkChecks } = openReadiness(config, grounds, closers);
  const hosts = createHostService(config, client);
  const buyers = openBuyers(rpcOf(networks.first.id), clock);
  const callers = openCallers(config, telemetry.metrics, log);
  const [{ settle }, { codeWallets }] = [settlement, buyers];
  const graphql = await openGraphql(config, { ...deps, ...callers, log, hosts, outbound, secretBox, settle, codeWallets });
  closers.unshift(graphql.close); // closed after the drain
  const reports = { database: reading, clock };
  const others = { hosts, agents, readiness, networkChecks, receivers: { outbound, secretBox }, version: VERSION };
  const { oidc } = graphql;
  const rest = createApi({ ...deps, ...buyers, ...callers, ...others, oidc, reports, log, settle, outbound });
  const owners = openConsole(config, { ...deps, ...callers, ...graphql, log, hosts, outbound, secretBox, reports });
  const names = createRouteNames([GRAPHQL_PATH, ...ROUTE_PATHS, ...CONSOLE_PATHS]);
  answerWith(telemetry.watchRequests(owners.before(graphql.before(rest)), names));

  let closing: Promise<void> | null = null;
  return { url, close: () => (closing ??= closeAll()) };
}

/** Listens, and says what is waited for until there is something to answer with. */
async function openDoor(config: ApiConfig, log: Log, closers: (() => Promise<unknown> | unknown)[]) {
  const server = createApiServer();
  let awaited: Part | null = null;
  let answer: RequestListener = answerWhileStarting(() => awaited);
  const calls = answerCalls(
    server,
    withSafetyHeaders(config.publicBaseUrl, (request, response) => answer(request, response)),
  );
  const url = await listen(server, config.listenHost, config.port);
  closers.push(() => endServer(server));
  const onWait = (part: Part | null): void => {
    awaited = part;
  };
  const answerWith = (handler: RequestListener): void => {
    answer = handler;
  };
  return { server, url, calls, waiting: { log, onWait }, answerWith };
}

/** What asks other people's servers: credits APIs, with what opens the tokens they want, and the directories of agents. */
function openOutside(
  config: ApiConfig,
  { networks, ...base }: Pick<CreditsBookOptions, 'database' | 'clock' | 'log'> & { readonly networks: Networks },
  closers: (() => Promise<unknown> | unknown)[],
) {
  const outbound = openOutbound(config);
  closers.push(() => outbound.close());
  const secretBox = createSecretBox(config.secretsKey, config.secretsKeyPrevious);
  const credits = openCreditsBook({ ...base, outbound, secretBox, forbidden: networks.contracts });
  const agents = openAgents(config, { ...base, outbound });
  closers.push(() => agents.directories.settled());
  return { outbound, secretBox, credits, agents };
}

/** What remembers that gates are alive and keys are used, and writes it down now and then. */
function openUses(
  base: Pick<CreditsBookOptions, 'database' | 'clock' | 'log'>,
  closers: (() => Promise<unknown> | unknown)[],
): Pick<PublisherDeps, 'liveness' | 'keyUse'> {
  const liveness = openLiveness(base);
  const keyUse = openKeyUse(base);
  closers.push(liveness.close, keyUse.close);
  return { liveness, keyUse };
}

/** What only the buyers' side needs. */
function openBuyers(rpc: Rpc, clock: () => number) {
  const codeWallets = openCodeWallets({ rpc, clock });
  return { rpc, codeWallets, licenceLifeSeconds: LICENCE_LIFE_SECONDS, scopes: openScopes(SCOPE_LIMITS) };
}

/** Reads the signing keys again and again; returns the end of it. */
function keepFresh(keyring: Keyring, database: Database, log: Log): () => void {
  const refresh = setInterval(() => {
    refreshKeyring(database, keyring).catch((error: unknown) =>
      log.warn({ error: String(error) }, 'signing keys were not read again'),
    );
  }, KEYRING_REFRESH_MS);
  return () => clearInterval(refresh);
}

/** Settlement whose networks were compared with their chains; connections end with the process. */
async function openChains(
  opened: SettlementDeps,
  closers: (() => Promise<unknown> | unknown)[],
): Promise<SettlementDeps & ComparedNetworks> {
  for (const { id } of opened.networks.list) closers.push(() => opened.rpcOf(id).close());
  const compared = await compareNetworks(opened);
  closers.push(compared.close);
  return { ...opened, ...compared };
}

/** Connections of everything, and those of reports, so that none of these keeps a payment waiting. */
async function openPools(
  config: ApiConfig,
  telemetry: Telemetry,
  closers: (() => Promise<unknown> | unknown)[],
  waiting: Parameters<typeof whenDatabaseAnswers>[0],
): Promise<{ readonly database: Database; readonly reading: Database }> {
  const { databaseUrl: url, databaseStatementNames: statementNames } = config;
  const database = await whenDatabaseAnswers(waiting, () =>
    openDatabase({
      url,
      statementNames,
      poolSize: config.databasePoolSize,
      pipelined: true,
      applicationName: processName('api'),
      onConflict: () => telemetry.metrics.count('svc.database.conflicts'),
      onDiskFull: () => telemetry.metrics.count('svc.database.full'),
    }),
  );
  closers.push(() => database.close());
  telemetry.watchPool('payments', database);
  const reading = await whenDatabaseAnswers(waiting, () =>
    openReportDatabase({ url, statementNames, poolSize: config.reportPoolSize }),
  );
  closers.push(() => reading.close());
  telemetry.watchPool('reports', reading);
  return { database, reading };
}

function listen(server: Server, host: string, port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      const { address, family, port: taken } = server.address() as AddressInfo;
      resolve(`http://${family === 'IPv6' ? `[${address}]` : address}:${taken}`);
    });
  });
}

/** What a start that fails leaves of the server; after a drain nothing. */
function endServer(server: Server): void {
  server.close();
  server.closeAllConnections();
}

/**
 * Takes no more calls and waits for those on their way; cuts what is left after the limit, and at once what carries no call: a connection
 * without a request, as balancers keep them, would hold up the end for the whole limit.
 */
async function drain(server: Server, calls: () => number): Promise<void> {
  const closed = new Promise((resolve) => server.close(resolve));
  const limitMs = performance.now() + DRAIN_MS;
  for (let idle = 0; idle < 2 && performance.now() < limitMs; await sleep(DRAIN_LOOK_MS)) idle = calls() === 0 ? idle + 1 : 0;
  server.closeAllConnections();
  await closed;
}
