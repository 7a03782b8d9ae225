/** A sandbox on running parts: its sites, the service, a publisher in front, and one purchase on screen. */
import { createServer } from 'node:http';
import { join, relative } from 'node:path';
import express from 'express';
import { openDatabase } from '../db/database.ts';
import type { Address } from '../modules/kernel/money/legs.ts';
import { contentSettlement } from '../packages/publisher/src/express.ts';
import { checksumAddress } from '../platform/chain/offer.ts';
import { pepperOf } from '../platform/tokens/pepper.ts';
import { playPurchase } from './demo.ts';
import { writeHistory } from './history/history.ts';
import { playHostProof } from './hostProof.ts';
import type { Lifetime } from './lifetime.ts';
import type { SandboxOptions } from './options.ts';
import { listenOnFreePort, releasePort } from './parts/ports.ts';
import { closeHistory, stateFolders } from './parts/state.ts';
import type { Printer } from './print.ts';
import { serviceEnvironment } from './processes-of-service.ts';
import { PUBLISHERS } from './publishers.ts';
import type { SandboxSecrets } from './secrets.ts';
import { writePrivateJson } from './secrets.ts';
import type { SeedDeps, Seeded, SeededSite } from './seed.ts';
import { demoKeyOf, seed, seedDemo } from './seed.ts';
import type { Sink } from './sink.ts';
import { startSink } from './sink.ts';
import type { SandboxWeb } from './site.ts';
import { startSandboxWeb } from './site.ts';
import type { Service, Topology } from './topology.ts';
import { startTrial } from './trial.ts';
import type { Unit } from './unit.ts';
import { SANDBOX_NETWORK } from './unit.ts';

/** Stages of the end, last first: what needs the parts, then the parts. */
const SERVICE_STAGE = 2;
const EDGE_STAGE = 1;

/** Where a running sandbox is found. */
export interface Shown {
  readonly contractFile: string;
  readonly publisherUrl: string;
}

/** Parts that run, and what the service on them is started with. */
interface Showing {
  readonly options: SandboxOptions;
  readonly topology: Topology;
  readonly lifetime: Lifetime;
  readonly printer: Printer;
  readonly secrets: SandboxSecrets;
  readonly secretsFile: string;
  readonly unit: Unit;
  readonly relayer: Address;
}

/** Seeds the sites, starts the service on the parts, plays the purchase and writes the contract file; null when it was ended in the middle. */
export async function showService(showing: Showing): Promise<Shown | null> {
  const { options, topology, lifetime, printer, secrets, secretsFile, unit, relayer } = showing;
  const contractFile = join(options.folder, topology.contractName);
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
  printer.say(`\nEverything runs, after ${(performance.now() / 1_000).toFixed(1)} s. One purchase, step by step:`);
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

function environmentOf(
  { postgres, temporal, chain }: Unit,
  web: SandboxWeb,
  secrets: SandboxSecrets,
  { intervals }: Topology,
): Record<string, string> {
  const { rpcUrl, router } = chain;
  const settings = { databaseUrl: postgres.appUrl, temporal, rpcUrl, router, secrets, sandboxWeb: web.url, intervals };
  // Publishers try their integration here, without money and without an operator.
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
