import { existsSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { join, relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import express from 'express';
import { openDatabase } from '../db/database.ts';
import { contentSettlement } from '../packages/publisher/src/express.ts';
import { checksumAddress } from '../platform/chain/offer.ts';
import { localSigner } from '../platform/chain/signature/signer.ts';
import { pepperOf } from '../platform/tokens/pepper.ts';
import { playPurchase } from './demo.ts';
import { writeHistory } from './history/history.ts';
import { playHostProof } from './hostProof.ts';
import type { Lifetime } from './lifetime.ts';
import { createLifetime } from './lifetime.ts';
import type { SandboxOptions } from './options.ts';
import { listenOnFreePort, releasePort } from './parts/ports.ts';
import { stopOnSignals } from './parts/signals.ts';
import { closeHistory, isHistoryOpen, lockState, stateFolders, wipePartialState, wipeState } from './parts/state.ts';
import type { Printer } from './print.ts';
import { serviceEnvironment } from './processes-of-service.ts';
import { PUBLISHERS } from './publishers.ts';
import type { SandboxSecrets } from './secrets.ts';
import { findSecrets, openSecrets, writePrivateJson } from './secrets.ts';
import type { SeedDeps, Seeded, SeededSite } from './seed.ts';
import { demoKeyOf, seed, seedDemo } from './seed.ts';
import type { Sink } from './sink.ts';
import { startSink } from './sink.ts';
import type { SandboxWeb } from './site.ts';
import { startSandboxWeb } from './site.ts';
import type { Service, Topology } from './topology.ts';
import { SANDBOX } from './topology.ts';
import { startTrial } from './trial.ts';
import type { Unit } from './unit.ts';
import { SANDBOX_NETWORK, startUnit } from './unit.ts';

/** Stages of the end, last first: what needs the parts, then the parts. */
const SERVICE_STAGE = 2;
const EDGE_STAGE = 1;

/** While a file of this name is in the state folder, processes that end are not started again: for breaking things on purpose. */
const HOLD_FILE = 'hold';

/**
 * Runs the sandbox: parts, service, one purchase on screen, `sandbox.json`, then serves until a signal. With
 * `exit` it ends after the purchase, with `then` after that and with its status. Resolves with the status to end with; on a signal the
 * process ends from within.
 */
export async function runSandbox(
  options: SandboxOptions,
  printer: Printer,
  topology: Topology = SANDBOX,
  then?: (shown: Shown) => Promise<number>,
): Promise<number> {
  const contractFile = join(options.folder, topology.contractName);
  const release = await lockState(options.folder);
  rmSync(contractFile, { force: true });
  let giveUp: (reason: string) => void = () => undefined;
  const gaveUp = new Promise<never>((_resolve, reject) => {
    giveUp = (reason) => reject(new Error(reason));
  });
  gaveUp.catch(() => undefined);
  const holdFile = join(options.folder, HOLD_FILE);
  rmSync(holdFile, { force: true });
  const lifetime = createLifetime({ say: printer.say, giveUp, isHeld: () => existsSync(holdFile) });
  const boot = bootSandbox(options, topology, lifetime, printer);
  let ended: Promise<void> | null = null;
  const end = async (): Promise<void> => {
    rmSync(contractFile, { force: true });
    const stopped = lifetime.stop();
    await Promise.race([boot.catch(() => undefined), sleep(3_000)]);
    await stopped;
    await lifetime.lateEnds();
    rmSync(contractFile, { force: true });
    release();
  };
  const stop = (): Promise<void> => (ended ??= end());
  stopOnSignals(async (reason) => {
    printer.say(`\nstopping (${reason})`);
    await stop();
    printer.say('stopped');
  });
  try {
    const shown = await Promise.race([boot, gaveUp]);
    const status = shown && then ? await Promise.race([then(shown), gaveUp]) : null;
    if (status === null && !options.exit) {
      if (shown) printer.say('\nIt goes on serving. Ctrl-C ends it and keeps its data.');
      await gaveUp;
    }
    await stop();
    return status ?? 0;
  } catch (error) {
    // A signal in the middle of the boot makes it fail; the end is under way then, and its status is that of the signal.
    if (lifetime.isEnding) await new Promise(() => undefined);
    printer.say(`\n${error instanceof Error ? error.message : String(error)}`);
    await stop();
    return 1;
  }
}

/** Where a running sandbox is found. */
interface Shown {
  readonly contractFile: string;
  readonly publisherUrl: string;
}

/** Null when it was ended in the middle. */
async function bootSandbox(
  options: SandboxOptions,
  topology: Topology,
  lifetime: Lifetime,
  printer: Printer,
): Promise<Shown | null> {
  const begun = performance.now();
  const contractFile = join(options.folder, topology.contractName);
  const secretsFile = join(options.folder, 'secrets.json');
  prepareFolders(options, secretsFile, printer);
  const secrets = openSecrets(secretsFile);
  const relayer = localSigner(secrets.relayerPrivateKey).address;
  const unit = await startUnit({ options, topology, relayer, say: printer.say, waits: printer.waits, lifetime });
  if (lifetime.isEnding) return null;
  const sink = await startSink(options.ports.sink);
  lifetime.onEnd(EDGE_STAGE, () => sink.close());
  const web = await startSandboxWeb(options.ports.site);
  lifetime.onEnd(EDGE_STAGE, () => web.close());
  const database = await openDatabase({ url: unit.postgres.appUrl, poolSize: 2, applicationName: 'sandbox' });
  lifetime.onEnd(EDGE_STAGE, () => database.close());
  const seeding = { database, chain: unit.chain, secrets, secretsFile, sinkUrl: sink.url };
  const seeded = await seed(seeding);
  if (unit.isPast) await addHistory({ unit, seeding, options, printer });
  const demo = await seedDemo(seeding);
  const site = seeded.publishers.alpha;
  const tokens = { GRAPHIQL_TOKEN: site.ownerToken, CONSOLE_DEMO_TOKEN: (demo ?? site).ownerToken };
  const environment = { ...environmentOf(unit, web, secrets, topology), ...tokens };
  const start = { options, environment, lifetime, stage: SERVICE_STAGE, say: printer.say, waits: printer.waits };
  const api = await topology.startService(start);
  const publisherUrl = await startPublisher(options, api.url, site, lifetime);
  web.standBehind(seeded.publishers.alpha.host, Number(new URL(publisherUrl).port));
  const trial = await startTrial({ serviceUrl: api.url, web, buyerKey: secrets.buyerPrivateKeys.otherBuyer });
  lifetime.onEnd(EDGE_STAGE, () => trial.close());
  const tell = (): ReturnType<typeof contractOf> =>
    contractOf({ api, unit, seeded, demo, publisherUrl, trialUrl: trial.url, sink, web, relayer: checksumAddress(relayer) });
  printPlaces(tell(), printer);
  printer.say(`\nEverything runs, after ${((performance.now() - begun) / 1_000).toFixed(1)} s. One purchase, step by step:`);
  const { webhookSecret } = seeded;
  await playPurchase({ site, publisherUrl, database, sink, webhookSecret, printer, ...unit, baseUrl: api.url });
  if (lifetime.isEnding) return null;
  await playHostProof({ database, web, printer, baseUrl: api.url, pepper: pepperOf(secrets) });
  if (lifetime.isEnding) return null;
  lifetime.onRestart(() => writePrivateJson(contractFile, tell()));
  writePrivateJson(contractFile, tell());
  if (isWithoutHistory(options, topology, demo)) printer.say(`\n${NO_HISTORY}`);
  printer.say('\nAddresses, keys and buyers:');
  printer.say(shorterOf(contractFile, relative(process.cwd(), contractFile)));
  return { contractFile, publisherUrl };
}

function shorterOf(one: string, other: string): string {
  return other.length < one.length ? other : one;
}

const NO_HISTORY = 'The demo site has no history: this sandbox was started without it. Start over: --fresh';

function isWithoutHistory({ history }: SandboxOptions, topology: Topology, demo: SeededSite | null): boolean {
  return history && topology.history && demo === null;
}

/** Writes the history of the demo site on parts that were made for it. */
async function addHistory(past: {
  readonly unit: Unit;
  readonly seeding: SeedDeps;
  readonly options: SandboxOptions;
  readonly printer: Printer;
}): Promise<void> {
  const { unit, seeding, options, printer } = past;
  const { ownerUrl, appUrl } = unit.postgres;
  const { secrets, sinkUrl, chain } = seeding;
  const siteKey = demoKeyOf(seeding);
  const write = () => writeHistory({ chain, secrets, sinkUrl, siteKey, ownerUrl, appUrl, nowMs: Date.now() });
  await printer.waits.until('28 days of history', write);
  closeHistory(stateFolders(options.folder));
}

/** Data without the secrets that belong to it cannot be used: what is left of it goes. */
function prepareFolders({ folder, fresh }: SandboxOptions, secretsFile: string, { say }: Printer): void {
  const folders = stateFolders(folder);
  if (fresh) {
    wipeState(folders, 'asked for by --fresh', say);
    rmSync(secretsFile, { force: true });
  } else if (findSecrets(secretsFile) === null) wipeState(folders, `${secretsFile} is missing or of another version`, say);
  else if (isHistoryOpen(folders)) wipeState(folders, 'the writing of its history was cut short', say);
  else wipePartialState(folders, say);
}

function environmentOf(
  { postgres, temporal, chain }: Unit,
  web: SandboxWeb,
  secrets: SandboxSecrets,
  { intervals }: Topology,
): Record<string, string> {
  const { rpcUrl, router } = chain;
  const settings = { databaseUrl: postgres.appUrl, temporal, rpcUrl, router, secrets, sandboxWeb: web.url, intervals };
  // Whoever writes a publisher tries it here, without money and without an operator.
  return { ...serviceEnvironment(settings), TEST_KEYS_ENABLED: 'true', SELF_SIGN_UP: 'true', SELF_SIGN_UP_PLAN: 'studio' };
}

/** alpha's web server, a site of Express with the publisher's package in front, under an address of its own; it keeps serving. */
async function startPublisher(
  options: SandboxOptions,
  serviceUrl: string,
  site: SeededSite,
  lifetime: Lifetime,
): Promise<string> {
  const known = PUBLISHERS.find(({ host }) => host === site.host)?.pricing.creditsInline ?? {};
  const app = express().disable('x-powered-by');
  const documents = { '/robots.txt': true, '/llms.txt': true };
  app.use(contentSettlement({ serviceUrl, apiKey: site.keys['tenant.read'] as string, documents }));
  app.get('/articles/:slug', (request, response) => {
    const entry = known[request.params.slug] as { readonly title: string } | undefined;
    if (entry === undefined) response.status(404).send('No such page.');
    else response.send(`<!doctype html><title>${entry.title}</title><p>The whole text of “${entry.title}”.</p>`);
  });
  const server = createServer(app);
  const port = await listenOnFreePort(server, options.ports.publisher);
  lifetime.onEnd(EDGE_STAGE, async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    releasePort(port);
  });
  return `http://127.0.0.1:${port}`;
}

interface ContractParts {
  readonly api: Service;
  readonly unit: Unit;
  readonly seeded: Seeded;
  readonly demo: SeededSite | null;
  readonly publisherUrl: string;
  readonly trialUrl: string;
  readonly sink: Sink;
  readonly web: SandboxWeb;
  readonly relayer: string;
}

/** `sandbox.json`, a public contract; `cluster.json` is the same and names the processes besides. */
function contractOf({ api, unit, seeded, demo, publisherUrl, trialUrl, sink, web, relayer }: ContractParts) {
  const { postgres, temporal, chain } = unit;
  const { address, uiUrl, namespace } = temporal;
  return {
    baseUrl: api.url,
    // Signs its visitor in to the demo site, or to alpha where there is none.
    consoleUrl: `${api.url}/_svc/console/demo`,
    graphqlUrl: `${api.url}/_svc/graphql`,
    temporal: { address, uiUrl, namespace },
    databaseUrl: postgres.appUrl,
    chain: {
      rpcUrl: chain.rpcUrl,
      chainId: chain.chainId,
      network: SANDBOX_NETWORK,
      usdc: checksumAddress(chain.usdc),
      router: checksumAddress(chain.router),
      relayer,
    },
    publishers: seeded.publishers,
    // The site with a history; nothing else is sold there.
    ...(demo === null ? {} : { demo }),
    // The key by its place in this file (RFC 6901).
    examplePublisher: { url: publisherUrl, host: seeded.publishers.alpha.host, key: '/publishers/alpha/keys/tenant.read' },
    buyer: seeded.buyer,
    otherBuyer: seeded.otherBuyer,
    webhookSink: { url: sink.url, secret: seeded.webhookSecret, deliveriesUrl: sink.deliveriesUrl },
    site: { controlUrl: web.controlUrl, trialUrl },
    ...(api.processes === undefined ? {} : { cluster: api.processes() }),
  };
}

/** What is where, the console first. */
function printPlaces(contract: ReturnType<typeof contractOf>, printer: Printer): void {
  const { consoleUrl, baseUrl, graphqlUrl, temporal, chain, examplePublisher, site, webhookSink } = contract;
  printer.place('Console', consoleUrl);
  printer.place('API', baseUrl);
  printer.place('OpenAPI', `${baseUrl}/_svc/openapi.json`);
  printer.place('GraphiQL', graphqlUrl);
  if (temporal.uiUrl !== null) printer.place('Temporal UI', temporal.uiUrl);
  printer.place('publisher', `${examplePublisher.url}/articles/trio`);
  printer.place('your server', site.trialUrl);
  printer.place('webhooks', webhookSink.deliveriesUrl);
  printer.place('chain', chain.rpcUrl);
  for (const [name, where] of Object.entries(contract.cluster?.places ?? {})) printer.place(name, where);
}
