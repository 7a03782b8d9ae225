/** The parts benches measure on: one Postgres and one Temporal for all benches of a run, made when first asked for. */
import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { migrate } from '../../db/migrate.ts';
import { registerNamespace } from '../../platform/temporal/namespace.ts';
import type { Chain, ChainOptions } from '../../sandbox/parts/chain.ts';
import { startChain } from '../../sandbox/parts/chain.ts';
import type { ChainSetup, PreparedChain } from '../../sandbox/parts/chain-setup.ts';
import { prepareChain } from '../../sandbox/parts/chain-setup.ts';
import { removeCluster } from '../../sandbox/parts/postgres/cluster.ts';
import type { DatabaseUrls, Postgres } from '../../sandbox/parts/postgres/postgres.ts';
import { startPostgres } from '../../sandbox/parts/postgres/postgres.ts';
import { createDatabase, dropDatabase } from '../../sandbox/parts/postgres/roles.ts';
import type { Temporal } from '../../sandbox/parts/temporal.ts';
import { startTemporal } from '../../sandbox/parts/temporal.ts';
import { temporalSources } from '../../sandbox/parts/temporal-binary.mjs';
import { query } from '../../test/support/sql.ts';
import type { Parts } from './cpu.ts';

const CHECKOUT = fileURLToPath(new URL('../../', import.meta.url));
/** Beside those of test runs, which remove what a killed process left there. */
const FOLDER = join(CHECKOUT, '.test', `${process.pid}-bench`);
const TEMPLATE = 'bench_template';
/** The view through which tests make payments by hand, and benches with them. */
const PAYMENT_ROWS = join(CHECKOUT, 'test/support/paymentRows.sql');
/** Counts statements, as a Postgres in production is told to. */
const COUNTING = ['shared_preload_libraries=pg_stat_statements'];

let postgres: Promise<Postgres> | null = null;
let temporal: Promise<Temporal> | null = null;
const stops: (() => Promise<void>)[] = [];

/** A folder for files of this run, removed at its end. */
export function benchFolder(): string {
  mkdirSync(FOLDER, { recursive: true, mode: 0o755 });
  return FOLDER;
}

/** A database with the whole schema and no rows; every call makes another one. */
export async function benchDatabase(): Promise<DatabaseUrls & { drop(): Promise<void> }> {
  postgres ??= openPostgres();
  const cluster = await postgres;
  const name = `bench_${randomUUID().replaceAll('-', '')}`;
  await createDatabase(cluster.superUrl, name, TEMPLATE);
  return { ...cluster.urlsOf(name), drop: () => dropDatabase(cluster.superUrl, name) };
}

/** A Temporal namespace of the caller's own; every call makes another one. */
export async function benchTemporal(): Promise<{ readonly address: string; readonly namespace: string }> {
  temporal ??= openTemporal();
  const { address } = await temporal;
  const namespace = `bench-${randomUUID()}`;
  await registerNamespace({ address }, namespace);
  return { address, namespace };
}

/** The processes of the run's Postgres and Temporal, as far as they were started here. */
export async function benchParts(): Promise<Parts> {
  const [cluster, server] = await Promise.all([postgres, temporal]);
  return {
    ...(cluster === null ? {} : { postgres: [cluster.process.pid] }),
    ...(server?.process ? { temporal: [server.process.pid] } : {}),
  };
}

/** A chain of a bench, which can lose its node. */
export interface BenchChain extends Omit<Chain, 'process'>, PreparedChain {
  /** The node that runs now. */
  pid(): number;
  /** Ends the node by SIGKILL once its state is written (`keep`), and starts it again from there, at the same address. */
  killNode(): Promise<void>;
}

/** A chain of the caller's own with test USDC, Multicall3 and router in place; the caller stops it. */
export async function benchChain(
  setup: Omit<ChainSetup, 'rpcUrl'> = {},
  options: Omit<ChainOptions, 'folder' | 'port'> = {},
): Promise<BenchChain> {
  const folder = join(benchFolder(), `chain-${randomUUID()}`);
  let node = await startChain({ ...options, folder });
  const { rpcUrl, port, chainId } = node;
  const stop = (): Promise<void> => node.stop();
  const killNode = async (): Promise<void> => {
    await stateWritten(join(folder, 'state.json'));
    process.kill(node.process.pid, 'SIGKILL');
    await node.process.exited;
    node = await startChain({ ...options, folder, port });
    if (node.port !== port) throw new Error("the chain's port was taken meanwhile");
  };
  try {
    return { rpcUrl, port, chainId, stop, killNode, pid: () => node.process.pid, ...(await prepareChain({ ...setup, rpcUrl })) };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Resolves when a state that holds all until now is on disk and none is being written: anvil writes one every second. */
async function stateWritten(file: string): Promise<void> {
  const written = (): number => (existsSync(file) ? statSync(file).mtimeMs : 0);
  for (let begun = 0; begun < 2; begun++) {
    const before = written();
    while (written() === before) await sleep(20);
  }
  await sleep(300);
}

/** Has `stop` called at the end of the run, before the parts are ended. */
export function atEndOfRun(stop: () => Promise<void>): void {
  stops.push(stop);
}

/** Ends what the run started and removes its folder; bench/run.ts calls it. Again: nothing. */
export async function stopBenchParts(): Promise<void> {
  await Promise.allSettled(stops.splice(0).map((stop) => stop()));
  const started = [postgres, temporal];
  postgres = null;
  temporal = null;
  await Promise.allSettled(started.map(async (part) => (await part)?.stop()));
  removeCluster(join(FOLDER, 'postgres'));
  rmSync(FOLDER, { recursive: true, force: true });
}

async function openPostgres(): Promise<Postgres> {
  const cluster = await startPostgres({ folder: join(benchFolder(), 'postgres'), settings: COUNTING });
  await createDatabase(cluster.superUrl, TEMPLATE);
  const { ownerUrl } = cluster.urlsOf(TEMPLATE);
  await migrate(ownerUrl);
  await query(ownerUrl, readFileSync(PAYMENT_ROWS, 'utf8'));
  return cluster;
}

function openTemporal(): Promise<Temporal> {
  return startTemporal({
    sources: temporalSources(process.env, join(CHECKOUT, '.sandbox', 'cache')),
    folder: join(benchFolder(), 'temporal'),
    uiPort: null,
    progress: (line) => void process.stderr.write(`${line}\n`),
  });
}
